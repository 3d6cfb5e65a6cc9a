"""Cholesky's factor, against NumPy."""

import numpy as np
import pytest
from scipy.linalg import hilbert

from giro.compiling import plain
from giro.kernels.regression.cholesky import factorise, inverse_from, log_det, solve
from giro.seeds import stream

SIZES = [1, 2, 3, 5, 20, 55]


def positive_definite(d: int, seed: int) -> np.ndarray:
    rows = stream(seed, d).normal(size=(2 * d, d))
    return rows.T @ rows + np.eye(d)


@pytest.mark.parametrize("d", SIZES)
def test_the_upper_triangle_becomes_the_factor(d: int, seed: int) -> None:
    matrix = positive_definite(d, seed)
    factor = matrix.copy()
    assert factorise(factor)
    wanted = np.linalg.cholesky(matrix).T
    np.testing.assert_allclose(np.triu(factor), wanted, rtol=1e-10, atol=1e-12)
    assert np.tril(factor, -1).tolist() == np.tril(matrix, -1).tolist()


@pytest.mark.parametrize("d", SIZES)
def test_only_the_upper_triangle_is_read(d: int, seed: int) -> None:
    matrix, vector = positive_definite(d, seed), stream(seed, 1).normal(size=d)
    half = np.triu(matrix) + np.tril(np.full((d, d), np.nan), -1)
    assert factorise(half)
    solved, inverse = vector.copy(), np.empty((d, d))
    solve(half, solved)
    inverse_from(half, inverse)
    np.testing.assert_allclose(solved, np.linalg.solve(matrix, vector), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(inverse, np.linalg.inv(matrix), rtol=1e-9, atol=1e-12)
    assert log_det(half) == pytest.approx(np.linalg.slogdet(matrix)[1], rel=1e-12, abs=1e-13)


def test_the_inverse_is_symmetric_to_the_last_digit(seed: int) -> None:
    factor, inverse = positive_definite(20, seed), np.empty((20, 20))
    factorise(factor)
    inverse_from(factor, inverse)
    assert inverse.tolist() == inverse.T.tolist()


def test_a_nearly_singular_matrix_is_solved_as_well_as_by_lapack() -> None:
    matrix, ones = hilbert(8), np.ones(8)
    vector, factor = matrix @ ones, matrix.copy()
    assert factorise(factor)
    solve(factor, vector)
    assert np.abs(matrix @ (vector - ones)).max() < 1e-15
    by_lapack = np.abs(np.linalg.solve(matrix, matrix @ ones) - ones).max()
    assert np.abs(vector - ones).max() < 10 * by_lapack + 1e-9


@pytest.mark.parametrize(
    "matrix",
    [
        [[0.0]],
        [[-1.0]],
        [[1.0, 2.0], [2.0, 4.0]],
        [[1.0, 0.0], [0.0, -1e-9]],
        [[1.0, 2.0], [2.0, 1.0]],
        [[np.nan]],
    ],
)
def test_a_matrix_that_is_not_positive_definite_is_told(matrix: list[list[float]]) -> None:
    assert not factorise(np.array(matrix))


def test_compiled_and_plain_python_agree_to_the_last_bit(seed: int) -> None:
    matrix, vector = positive_definite(13, seed), stream(seed, 1).normal(size=13)
    results = []
    for way in (lambda kernel: kernel, plain):
        factor, solved, inverse = matrix.copy(), vector.copy(), np.empty((13, 13))
        way(factorise)(factor)
        way(solve)(factor, solved)
        way(inverse_from)(factor, inverse)
        results.append([factor.tolist(), solved.tolist(), inverse.tolist(), way(log_det)(factor)])
    assert results[0] == results[1]
