"""Draws of k or more are those of a binomial variable, and the others are told apart."""

import numpy as np
import pytest
from laws import ALPHA, p_value_of_counts
from scipy.stats import binom

from giro.compiling import kernel
from giro.kernels.draws.discrete import binomial_from
from giro.seeds import stream

DRAWS = 200_000


@kernel
def _drawn(k: int, n: int, p: float, draws: int, rng) -> np.ndarray:
    counts = np.zeros(n + 2, np.int64)  # the last for those below k
    for _ in range(draws):
        counts[binomial_from(k, n, p, rng.standard_exponential(), rng)] += 1
    return counts


def expected(k: int, n: int, p: float) -> np.ndarray:
    z = np.arange(n + 1)
    return np.append(np.where(z >= k, binom.pmf(z, n, p), 0.0), binom.cdf(k - 1, n, p))


@pytest.mark.parametrize(
    ("k", "n", "p"),
    [(1, 2, 0.1), (2, 3, 0.3), (5, 5, 0.7), (17, 40, 0.3), (66, 120, 0.5), (560, 1000, 0.53)],
)
def test_the_law_is_that_of_a_binomial(k: int, n: int, p: float, seed: int) -> None:
    counts = _drawn(k, n, p, DRAWS, stream(seed))
    assert p_value_of_counts(counts, expected(k, n, p)) > ALPHA
    wrong = _drawn(k, n, p + 0.01, DRAWS, stream(seed))
    assert p_value_of_counts(wrong, expected(k, n, p)) < ALPHA


def test_what_is_impossible_or_certain_is_never_drawn(seed: int) -> None:
    rng = stream(seed)
    assert binomial_from(1, 5, 0.0, 99.0, rng) == -1
    assert binomial_from(6, 5, 0.5, 99.0, rng) == -1
    assert binomial_from(1, 0, 0.5, 99.0, rng) == -1
    assert binomial_from(5, 5, 0.5, 5 * np.log(2) + 1e-9, rng) == 5
    assert binomial_from(5, 5, 0.5, 5 * np.log(2) - 1e-9, rng) == -1


def test_patience_may_be_known_to_exceed_pinskers_bound() -> None:
    p = np.linspace(0.0005, 0.9995, 2000)
    for n in range(2, 61):
        for k in range(1, n):
            far = 2 * (k - n * p) ** 2 / n >= 0.5
            above = p[far & (n * p < k)]
            ratio = (n - k) * above / ((k + 1) * (1 - above))
            needed = np.log(1 - ratio) - binom.logpmf(k, n, above)
            assert (needed > 2 * (k - n * above) ** 2 / n).all()
