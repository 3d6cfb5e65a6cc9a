"""Sums over vectors, factors of matrices, and those of growing matrices, against NumPy."""

import math

import numpy as np
import pytest
from scipy.linalg import hilbert

from giro.compiling import kernel, plain
from giro.kernels.regression.linear_algebra import (
    add_multiple,
    add_row,
    dot,
    factorise,
    fade_factor,
    log_det,
    set_penalty,
    solve,
    squared_width,
    total,
)
from giro.seeds import stream

SIZES = [1, 2, 3, 5, 20, 55]
ROWS = 10_000


@pytest.mark.parametrize("size", range(10))
def test_dot_is_the_sum_of_products(size: int, seed: int) -> None:
    left, right = stream(seed, size).normal(size=(2, size))
    exact = math.fsum(left * right)
    assert dot(left, right) == pytest.approx(exact, rel=1e-13, abs=1e-14)
    assert dot(left, right) == plain(dot)(left, right)


@pytest.mark.parametrize("size", [0, 1, 7, 64])
def test_add_multiple_adds_in_place_what_numpy_adds(size: int, seed: int) -> None:
    vector, other = stream(seed, size).normal(size=(2, size))
    wanted = vector + 0.3 * other
    add_multiple(vector, 0.3, other)
    assert vector.tolist() == wanted.tolist()


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 127, 128, 129, 1000, 4321])
def test_total_is_the_sum_in_a_fixed_order(size: int, seed: int) -> None:
    values = 10.0 ** stream(seed, size).uniform(-8, 8, size)
    assert total(values) == pytest.approx(math.fsum(values), rel=1e-14)
    assert total(values) == plain(total)(values)


def test_total_of_known_numbers() -> None:
    values = np.array([1e16, 1.0, -1e16, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    # ((1e16 + 1) + (-1e16 + 1)) + ((1 + 1) + (1 + 1)), then the ninth; ±1e16 + 1 is rounded
    assert total(values) == 5.0
    assert total(np.tile(values[:8], 17)) == plain(total)(np.tile(values[:8], 17))


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
    solved = vector.copy()
    solve(half, solved)
    np.testing.assert_allclose(solved, np.linalg.solve(matrix, vector), rtol=1e-9, atol=1e-12)
    assert log_det(half) == pytest.approx(np.linalg.slogdet(matrix)[1], rel=1e-12, abs=1e-13)


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
def test_a_matrix_that_is_not_positive_definite_is_noticed(matrix: list[list[float]]) -> None:
    assert not factorise(np.array(matrix))


def test_compiled_and_plain_factors_agree_to_the_last_bit(seed: int) -> None:
    matrix, vector = positive_definite(13, seed), stream(seed, 1).normal(size=13)
    results = []
    for way in (lambda kernel: kernel, plain):
        factor, solved = matrix.copy(), vector.copy()
        way(factorise)(factor)
        way(solve)(factor, solved)
        results.append([factor.tolist(), solved.tolist(), way(log_det)(factor)])
    assert results[0] == results[1]


@kernel
def _grow(factor: np.ndarray, rows: np.ndarray, weights: np.ndarray, workspace: np.ndarray) -> None:
    for i in range(rows.shape[0]):
        add_row(factor, rows[i], weights[i], workspace)


def hard_rows(n: int, d: int, seed: int) -> np.ndarray:
    """Return rows with two constant columns, one that follows from others, and far outliers."""
    rng = stream(seed, d)
    rows = rng.normal(size=(n, d))
    rows[:, -1] = 1.0
    rows[:, -2] = 3.0
    rows[:, 2] = rows[:, 0] - rows[:, 1]
    rows[:, 3] = np.where(rng.random(n) < 2.5e-5 * 200, 200.0, -0.005)
    rows[:, 4] = 0.0
    rows[rng.random(n) < 0.01, 0] *= 200.0
    return rows


def grown(rows: np.ndarray, weights: np.ndarray, penalty: float) -> np.ndarray:
    d = rows.shape[1]
    factor = np.full((d, d), np.nan)
    set_penalty(factor, penalty)
    _grow(factor, rows, weights, np.empty(d))
    return factor


@pytest.mark.parametrize("penalty", [1.0, 1e-3, 100.0])
def test_after_ten_thousand_rows_it_still_solves_as_a_direct_solve_does(
    penalty: float, seed: int
) -> None:
    rows = hard_rows(ROWS, 20, seed)
    factor, workspace = grown(rows, np.ones(ROWS), penalty), np.empty(20)
    matrix = rows.T @ rows + penalty * np.eye(20)
    moment = rows.T @ stream(seed).random(ROWS)
    solved = moment.copy()
    solve(factor, solved)
    wanted = np.linalg.solve(matrix, moment)
    if penalty >= 1.0:  # else no way of solving has eight digits of collinear columns
        assert np.abs(solved - wanted).max() < 1e-8 * np.abs(wanted).max()
    np.testing.assert_allclose(rows @ solved, rows @ wanted, rtol=0, atol=1e-10)
    some = rows[:: ROWS // 500]
    widths = [squared_width(factor, row, workspace) for row in some]
    direct = np.einsum("ij,ij->i", some, np.linalg.solve(matrix, some.T).T)
    np.testing.assert_allclose(widths, direct, rtol=1e-8, atol=0)
    log_det = 2 * np.log(np.diag(factor)).sum()
    assert log_det == pytest.approx(np.linalg.slogdet(matrix)[1], rel=1e-10)


def test_a_weight_counts_as_that_many_equal_rows(seed: int) -> None:
    rows, weights = hard_rows(50, 6, seed), stream(seed).integers(0, 4, 50).astype(float)
    factor = grown(rows, weights, 1.0)
    repeated = np.repeat(rows, weights.astype(int), axis=0)
    np.testing.assert_allclose(
        factor.T @ factor, repeated.T @ repeated + np.eye(6), rtol=1e-12, atol=1e-9
    )


def test_before_any_row_the_width_is_the_length_over_the_penalty() -> None:
    factor = grown(np.empty((0, 3)), np.empty(0), 4.0)
    assert squared_width(factor, np.array([1.0, 2.0, 2.0]), np.empty(3)) == 9.0 / 4.0


def test_what_was_not_observed_stays_as_wide_as_it_was(seed: int) -> None:
    rows = np.zeros((1000, 3))
    rows[:, 0] = 1.0
    factor = grown(rows, np.ones(1000), 2.0)
    assert squared_width(factor, np.array([0.0, 1.0, 0.0]), np.empty(3)) == pytest.approx(0.5)
    assert squared_width(factor, np.array([1.0, 0.0, 0.0]), np.empty(3)) == pytest.approx(1 / 1002)


def test_compiled_and_plain_growth_agree_to_the_last_bit(seed: int) -> None:
    rows = hard_rows(30, 9, seed)
    factors = [np.empty((9, 9)) for _ in range(2)]
    workspace, widths = np.empty(9), []
    for factor, way in zip(factors, (lambda kernel: kernel, plain), strict=True):
        way(set_penalty)(factor, 1.5)
        for row in rows:
            way(add_row)(factor, row, 0.7, workspace)
        widths.append([way(squared_width)(factor, row, workspace) for row in rows])
    assert factors[0].tolist() == factors[1].tolist()
    assert widths[0] == widths[1]


def test_a_factor_that_fades_keeps_its_penalty(seed: int) -> None:
    rows = hard_rows(40, 7, seed)
    factor, kept = grown(rows, np.ones(40), 1.5), rows.T @ rows
    fade_factor(factor, 0.3, 1.5, np.empty(7))
    matrix = 0.3 * kept + 1.5 * np.eye(7)
    np.testing.assert_allclose(
        factor.T @ factor, matrix, rtol=1e-9, atol=1e-9 * np.abs(matrix).max()
    )
