"""Gamma and beta draws."""

import numpy as np
import pytest
from kernels.draws.filled import filled, plainly
from kernels.draws.judged import assert_law, assert_other_law
from scipy import stats

from giro.kernels.draws.continuous import beta, standard_exponential, standard_gamma

SHAPES = [0.01, 0.1, 0.5, 0.999, 1.0, 1.001, 1.5, 3.0, 20.0, 1000.0]
SIDES = [
    (0.01, 0.02),
    (0.001, 5.0),
    (0.3, 0.8),
    (0.5, 0.5),
    (1.0, 1.0),
    (1.0, 0.4),
    (0.2, 3.0),
    (3.0, 0.2),
    (1.0, 7.0),
    (2.0, 2.0),
    (500.0, 2.0),
    (40.0, 60.0),
]


@pytest.mark.parametrize("shape", SHAPES)
def test_draws_are_gamma(shape: float, seed: int) -> None:
    draws = filled(standard_gamma, shape, seed=seed)
    assert_law(draws, stats.gamma(shape))
    assert_other_law(draws, stats.gamma(shape + max(0.04 * shape, 0.01 * shape**0.5)))


def test_a_whole_shape_is_a_sum_of_exponentials(seed: int) -> None:
    sums = filled(standard_exponential, seed=seed, size=600_000).reshape(-1, 3).sum(axis=1)
    assert_law(sums, stats.gamma(3))


@pytest.mark.parametrize(("a", "b"), SIDES)
def test_draws_are_beta(a: float, b: float, seed: int) -> None:
    draws = filled(beta, a, b, seed=seed)
    assert_law(draws, stats.beta(a, b))
    assert_other_law(draws, stats.beta(1.05 * a, b))


@pytest.mark.parametrize(("a", "b"), [(1e-5, 1e-5), (1e-200, 3e-200), (1e-310, 3e-310)])
def test_tiny_sides_give_0_or_1_in_their_proportion(a: float, b: float, seed: int) -> None:
    draws = filled(beta, a, b, seed=seed)
    assert np.mean((draws < 1e-9) | (draws > 1 - 1e-9)) > 0.99
    assert stats.binomtest(int(np.sum(draws > 0.5)), draws.size, a / (a + b)).pvalue > 1e-6


@pytest.mark.parametrize(("a", "b"), [(5e-324, 1.0), (1e-320, 4.0), (1e-320, 1e300), (3.0, 5e-324)])
def test_the_most_extreme_sides_give_numbers(a: float, b: float, seed: int) -> None:
    draws = filled(beta, a, b, seed=seed, size=10_000)
    assert set(draws) == {0.0 if a < b else 1.0}
    assert plainly(beta, a, b, seed=seed, size=100) == draws[:100].tolist()


@pytest.mark.parametrize("shape", [1e-320, *SHAPES])
def test_compiled_and_plain_gammas_are_equal(shape: float, seed: int) -> None:
    plain = plainly(standard_gamma, shape, seed=seed, size=2_000)
    assert filled(standard_gamma, shape, seed=seed, size=2_000).tolist() == plain


@pytest.mark.parametrize(("a", "b"), [*SIDES, (1e-310, 3e-310), (1e-200, 3e-200)])
def test_compiled_and_plain_betas_are_equal(a: float, b: float, seed: int) -> None:
    plain = plainly(beta, a, b, seed=seed, size=2_000)
    assert filled(beta, a, b, seed=seed, size=2_000).tolist() == plain
