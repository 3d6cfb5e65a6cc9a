"""Fair coins follow the binomial law."""

import numpy as np
import pytest
from laws import assert_follows, p_value_of_counts
from scipy import stats

from giro.kernel import kernel
from giro.kernels.binomial import fair_binomial
from giro.seeds import stream

DRAWS = 200_000


@kernel
def _fair_draws(n: int, count: int, rng: np.random.Generator) -> np.ndarray:
    values = np.empty(count, np.int64)
    for i in range(count):
        values[i] = fair_binomial(n, rng)
    return values


@pytest.mark.parametrize("n", [0, 1, 52, 53, 54, 106, 107, 300, 318, 319, 2000])
def test_fair_coins_follow_the_binomial_law(n: int, seed: int) -> None:
    values = _fair_draws(n, DRAWS, stream(seed, n))
    assert_follows(values, stats.binom.pmf(np.arange(n + 1), n, 0.5))


def test_a_lost_coin_fails(seed: int) -> None:
    values = _fair_draws(52, DRAWS, stream(seed))
    counts = np.bincount(values, minlength=54)
    assert p_value_of_counts(counts, stats.binom.pmf(np.arange(54), 53, 0.5)) < 1e-6


@pytest.mark.parametrize("n", [3, 53, 300, 1000])
def test_compiled_and_plain_draws_are_equal(n: int, seed: int) -> None:
    rng = stream(seed)
    plain = [fair_binomial.py_func(n, rng) for _ in range(200)]
    assert _fair_draws(n, 200, stream(seed)).tolist() == plain
