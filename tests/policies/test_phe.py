"""Perturbed-history exploration."""

import math

import numpy as np
import pytest
from laws import assert_follows, p_value_of_same_counts
from policies.choosing import choice_counts, winner_law
from scipy import stats

from giro.errors import BadParameter
from giro.policies.phe import Phe
from giro.seeds import stream

HISTORIES = [[1, 0, 0.5], [0.25], [0.5, 0.75, 0, 0.25, 0.5]]


def law_of_winner(a: float, extra: int = 0) -> np.ndarray:
    values, laws = [], []
    for history in HISTORIES:
        m = math.ceil(round(a * len(history), 9)) + extra
        values.append((sum(history) + np.arange(m + 1)) / (len(history) + m))
        laws.append(stats.binom.pmf(np.arange(m + 1), m, 0.5))
    return winner_law(values, laws)


@pytest.mark.parametrize("a", [1.1, 1 / 3, 2.0])
def test_arms_are_pulled_as_the_binomial_law_of_their_pseudo_rewards_says(
    a: float, seed: int
) -> None:
    arms = np.repeat(np.arange(3), choice_counts(Phe(a), HISTORIES, draws=200_000, seed=seed))
    assert_follows(arms, law_of_winner(a))
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(arms, law_of_winner(a, extra=1))


def test_arms_with_long_histories_are_pulled_as_if_all_coins_were_thrown(seed: int) -> None:
    rng = stream(seed)
    histories = [
        (rng.random(s) < mean).astype(float) for s, mean in ((300, 0.6), (40, 0.4), (90, 0.5))
    ]
    rows = []
    for history in histories:
        m = math.ceil(1.1 * history.size)
        coins = rng.binomial(m, 0.5, size=100_000)
        rows.append((history.sum() + coins) / (history.size + m) + 1e-9 * rng.random(100_000))
    plain = np.bincount(np.argmax(rows, axis=0), minlength=3)
    lists = [history.tolist() for history in histories]
    counts = choice_counts(Phe(1.1), lists, draws=100_000, seed=seed)
    assert p_value_of_same_counts(counts, plain) > 1e-6


def test_an_arm_never_pulled_goes_first(seed: int) -> None:
    assert choice_counts(Phe(), [[1, 1], [], [1]], draws=50, seed=seed).tolist() == [0, 50, 0]


@pytest.mark.parametrize("a", [0.0, -1.0, math.inf, math.nan])
def test_a_is_finite_and_positive(a: float) -> None:
    with pytest.raises(BadParameter, match="phe needs a finite a > 0"):
        Phe(a)
