"""The weighted bootstrap."""

import math

import numpy as np
import pytest
from laws import assert_follows, p_value_of_same_counts
from policies.choosing import choice_counts
from scipy import stats

from giro.errors import BadParameter
from giro.policies.thompson import Thompson
from giro.policies.weighted_bootstrap import WeightedBootstrap
from giro.seeds import stream

REAL = [[0.5, 0.25, 0.9], [0.25, 0.75], []]
DRAWS = 100_000


def literal_counts(histories: list[list[float]], zeros: int, seed: int) -> np.ndarray:
    """Return how often each arm wins with one Exp(1) weight per entry, as in the paper."""
    rng, values = stream(seed, 9), []
    for history in histories:
        entries = np.array([*history, *[0.0] * zeros, 1.0])
        weights = rng.exponential(size=(DRAWS, entries.size))
        values.append(weights @ entries / weights.sum(axis=1))
    return np.bincount(np.argmax(values, axis=0), minlength=len(histories))


def test_exponential_weights_are_one_per_reward(seed: int) -> None:
    counts = choice_counts(WeightedBootstrap(), REAL, draws=DRAWS, seed=seed)
    assert p_value_of_same_counts(counts, literal_counts(REAL, 1, seed)) > 1e-6
    assert p_value_of_same_counts(counts, literal_counts(REAL, 2, seed)) < 1e-6


def test_exponential_weights_on_zeros_and_ones_are_thompson_sampling(seed: int) -> None:
    histories = [[1, 0, 0, 1], [0, 1], []]
    counts = choice_counts(WeightedBootstrap(ones=2), histories, draws=DRAWS, seed=seed)
    same = choice_counts(Thompson(alpha=2), histories, draws=DRAWS, seed=seed + 1_000)
    other = choice_counts(Thompson(alpha=1.8), histories, draws=DRAWS, seed=seed + 1_000)
    assert p_value_of_same_counts(counts, same) > 1e-6
    assert p_value_of_same_counts(counts, other) < 1e-6


def test_additive_weights_shift_every_reward(seed: int) -> None:
    policy = WeightedBootstrap("additive", sd=0.3)
    counts = choice_counts(policy, REAL[:2], draws=DRAWS, seed=seed)
    gap = (1.65 + 1) / 5 - (1.0 + 1) / 4
    first_wins = stats.norm.cdf(gap / (0.3 * math.sqrt(1 / 5 + 1 / 4)))
    arms = np.repeat([0, 1], counts)
    assert_follows(arms, [first_wins, 1 - first_wins])
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(arms, [first_wins + 0.02, 0.98 - first_wins])


@pytest.mark.parametrize("value", [-1, 0.5, float("nan")])
def test_pseudo_rewards_are_whole_numbers(value: int) -> None:
    with pytest.raises(BadParameter, match="weighted-bootstrap needs a whole number zeros >= 0"):
        WeightedBootstrap(zeros=value)
    with pytest.raises(BadParameter, match="weighted-bootstrap needs a whole number ones >= 0"):
        WeightedBootstrap(ones=value)


@pytest.mark.parametrize("sd", [0.0, -1.0, math.inf, math.nan])
def test_sd_is_finite_and_positive(sd: float) -> None:
    with pytest.raises(BadParameter, match="weighted-bootstrap needs a finite sd > 0"):
        WeightedBootstrap("additive", sd=sd)


def test_unknown_weights_are_refused() -> None:
    with pytest.raises(
        BadParameter, match="exponential, gaussian, additive, got weights='multinomial'"
    ):
        WeightedBootstrap("multinomial")  # type: ignore[arg-type]  # it is refused
