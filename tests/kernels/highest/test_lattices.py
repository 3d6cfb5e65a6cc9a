"""Lattices: probabilities of binomial points."""

import numpy as np
import pytest
from kernels.highest.binomial_laws import law_in_long_numbers
from scipy.stats import binom

from giro.kernels.highest.lattices import binomial_probability, binomial_range

RARE = 32.0


@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.5), (7, 0.1), (1000, 0.3), (10**6, 0.999), (40, 1 / 41), (10**7, 0.5)]
)
def test_binomial_probabilities_are_exact_where_they_count(n: int, p: float) -> None:
    low, high = binomial_range(n, p, RARE)
    ones, law = law_in_long_numbers(n, p)
    tenth = slice(None, None, max(1, ones.size // 100))
    probability = [binomial_probability(int(k), n, p) for k in ones[tenth]]
    assert probability == pytest.approx(law[tenth].astype(float), rel=1e-11, abs=1e-18)
    assert binom.cdf(low - 1, n, p) + binom.sf(high, n, p) < 2 * np.exp(-RARE)
    assert high - low < 16 * np.sqrt(n * p * (1 - p)) + 30


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certain_coins_have_one_outcome(p: float) -> None:
    assert binomial_range(9, p, RARE) == (9 * p, 9 * p)
    assert [binomial_probability(k, 9, p) for k in (0, 4, 9)] == [1 - p, 0, p]
