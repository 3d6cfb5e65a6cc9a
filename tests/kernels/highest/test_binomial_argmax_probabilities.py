"""Probabilities of the highest of binomial values, against enumeration and against draws."""

import numpy as np
import pytest
from laws import assert_follows
from scipy.stats import binom

from giro.kernels.highest.binomial_argmax import (
    binomial_argmax,
    binomial_argmax_probabilities,
    binomial_probabilities,
    binomial_range,
    empty_values,
    set_bootstrap,
    set_share,
    set_variant,
)
from giro.kernels.highest.probabilities import Points, argmax_probabilities_of_points
from giro.seeds import stream

RANDOM_TIES = np.empty(0)


@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.5), (7, 0.1), (1000, 0.3), (10**6, 0.999), (40, 1 / 41)]
)
def test_binomial_probabilities_are_exact_where_they_count(n: int, p: float) -> None:
    low, high = binomial_range(n, p)
    law = binomial_probabilities(n, p, low, high)
    assert law == pytest.approx(binom.pmf(np.arange(low, high + 1), n, p), rel=1e-7, abs=1e-16)
    assert binom.cdf(low - 1, n, p) + binom.sf(high, n, p) < 1e-15
    assert high - low < 20 * np.sqrt(n * p * (1 - p)) + 30


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certain_coins_have_one_outcome(p: float) -> None:
    assert binomial_range(9, p) == (9 * p, 9 * p)


def test_nothing_that_counts_is_left_out() -> None:
    sizes, ones = [9, 40, 700, 5000], [5, 21, 380, 2550]
    values = empty_values(4)
    points, laws = [], []
    for arm, (m, k) in enumerate(zip(sizes, ones, strict=True)):
        set_bootstrap(values, arm, m, float(k))
        points.append(np.arange(m + 1) / m)
        laws.append(binom.pmf(np.arange(m + 1), m, k / m))
    owner = np.repeat(np.arange(4), [m + 1 for m in sizes])
    whole = Points(np.concatenate(points), np.concatenate(laws), owner, 1.0)
    assert binomial_argmax_probabilities(values, np.arange(4), RANDOM_TIES) == pytest.approx(
        argmax_probabilities_of_points(whole, 4, RANDOM_TIES), abs=1e-12
    )


@pytest.mark.parametrize(
    "ranking", [RANDOM_TIES, np.array([2.0, 0.0, 1.0])], ids=["random", "fixed"]
)
def test_draws_follow_the_probabilities(ranking: np.ndarray, seed: int) -> None:
    values, rng, arms = empty_values(3), stream(seed), np.arange(3)
    assert binomial_argmax_probabilities(values, arms, ranking).tolist() == (
        [1 / 3] * 3 if ranking.size == 0 else [1, 0, 0]
    )
    for arm, (offset, n, m) in enumerate([(1.0, 4, 6), (0.0, 7, 7), (2.5, 3, 8)]):
        set_variant(values, arm, 0, offset, n, 0.5, m)
        set_variant(values, arm, 1, offset, n + 2, 0.4, m + 1)
        set_share(values, arm, 0.3 * arm)
    law = binomial_argmax_probabilities(values, arms, ranking)
    assert law.sum() == pytest.approx(1.0, abs=1e-13)
    assert_follows([binomial_argmax(values, arms, ranking, rng) for _ in range(4_000)], law)
    law = binomial_argmax_probabilities(values, arms[1:], ranking)  # of some arms
    assert law.sum() == pytest.approx(1.0, abs=1e-13)
    drawn = np.array([binomial_argmax(values, arms[1:], ranking, rng) for _ in range(4_000)])
    assert_follows(drawn - 1, law)
