"""Arms are chosen as if every beta law were drawn."""

import numpy as np
import pytest
from laws import ALPHA, assert_follows_cdf, p_value_of_same_counts
from scipy import stats

from giro.compiling import kernel
from giro.kernels.highest.beta_argmax import beta_argmax, beta_if_reached
from giro.seeds import stream

DRAWS = 60_000


@kernel
def _winners(alpha: np.ndarray, beta: np.ndarray, arms: np.ndarray, draws: int, rng) -> np.ndarray:
    counts = np.zeros(alpha.size, np.int64)
    for _ in range(draws):
        counts[arms[beta_argmax(alpha[arms], beta[arms], rng)]] += 1
    return counts


@kernel
def _reaching(alpha: float, beta: float, x: float, draws: int, rng) -> np.ndarray:
    values = np.empty(draws)
    for i in range(draws):
        values[i] = beta_if_reached(alpha, alpha + beta - 1.0, x, rng.standard_exponential(), rng)
    return values


ARMS = [
    ([1, 1, 1], [1, 1, 1]),
    ([1, 2, 5], [30, 10, 20]),
    ([60, 20, 8, 1], [40, 30, 20, 9]),
    ([600, 40, 40, 25], [400, 45, 50, 20]),
    ([3000, 2900, 100, 50, 7], [2000, 2000, 110, 40, 5]),
]


@pytest.mark.parametrize(("alpha", "beta"), ARMS)
def test_winners_have_the_law_of_plain_draws(alpha: list[int], beta: list[int], seed: int) -> None:
    alphas, betas = np.array(alpha, float), np.array(beta, float)
    rng = stream(seed)
    plain = rng.beta(alphas, betas, size=(DRAWS, alphas.size)).argmax(axis=1)
    literal = np.bincount(plain, minlength=alphas.size)
    counts = _winners(alphas, betas, np.arange(alphas.size), DRAWS, rng)
    assert p_value_of_same_counts(counts, literal) > ALPHA


@pytest.mark.parametrize(("alpha", "beta"), ARMS)
def test_arms_that_are_not_on_offer_are_as_if_they_were_not_there(
    alpha: list[int], beta: list[int], seed: int
) -> None:
    alphas, betas = np.array(alpha, float), np.array(beta, float)
    rng, arms = stream(seed), np.arange(1, alphas.size)
    plain = 1 + rng.beta(alphas[1:], betas[1:], size=(DRAWS, arms.size)).argmax(axis=1)
    counts = _winners(alphas, betas, arms, DRAWS, rng)
    assert p_value_of_same_counts(counts, np.bincount(plain, minlength=alphas.size)) > ALPHA


def test_one_more_one_in_an_arm_is_noticed(seed: int) -> None:
    rng, beta, arms = stream(seed), np.array([45.0, 50.0, 20.0]), np.arange(3)
    counts = _winners(np.array([41.0, 40.0, 25.0]), beta, arms, DRAWS, rng)
    other = _winners(np.array([41.0, 40.0, 26.0]), beta, arms, DRAWS, rng)
    assert p_value_of_same_counts(counts, other) < ALPHA


@pytest.mark.parametrize(
    ("alpha", "beta", "x"), [(1, 1, 0.7), (1, 8, 0.2), (3, 4, 0.6), (40, 60, 0.47), (5, 1, 0.9)]
)
def test_values_follow_the_beta_law_above_x(alpha: int, beta: int, x: float, seed: int) -> None:
    law = stats.beta(alpha, beta)
    values = _reaching(alpha, beta, x, DRAWS, stream(seed))
    reached = values[values >= 0]
    assert stats.binomtest(reached.size, DRAWS, law.sf(x)).pvalue > ALPHA
    assert_follows_cdf(reached, lambda v: 1 - law.sf(v) / law.sf(x))
    assert stats.binomtest(reached.size, DRAWS, stats.beta(alpha, beta + 1).sf(x)).pvalue < ALPHA
