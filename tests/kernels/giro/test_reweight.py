"""Means under random weights: the shortcuts against one weight per entry."""

import numpy as np
import pytest
from laws import assert_follows, assert_follows_cdf, assert_same_law
from scipy import stats

from giro.compiling import kernel
from giro.kernels.giro.history import no_rewards, remember
from giro.kernels.giro.reweight import (
    Entries,
    entries_of,
    gaussian_mean,
    multinomial_mean,
    shifted_mean,
)
from giro.seeds import stream

DRAWS = 50_000
REAL = [0.2, 0.7, 0.7, 1.0, 0.0, 0.35]


def entries(rewards: list[float], zeros: int, ones: int) -> Entries:
    binary = all(reward in (0.0, 1.0) for reward in rewards)
    return Entries(np.array(rewards, float), float(sum(rewards)), binary, zeros, ones)


def everything(of: Entries) -> np.ndarray:
    return np.concatenate([of.rewards, np.zeros(of.zeros), np.ones(of.ones)])


@kernel
def _multinomial(of: Entries, out: np.ndarray, rng: np.random.Generator) -> None:
    for i in range(out.size):
        out[i] = multinomial_mean(of, rng)


def draws(sampler, of: Entries, seed: int, draws: int = DRAWS) -> np.ndarray:
    out = np.empty(draws)
    sampler(of, out, stream(seed, 0))
    return out


def literal_multinomial(of: Entries, seed: int) -> np.ndarray:
    values = everything(of)
    return stream(seed, 1).choice(values, (DRAWS, values.size)).mean(axis=1).round(9)


def test_the_bootstrap_mean_of_zeros_and_ones_is_binomial(seed: int) -> None:
    sample = draws(_multinomial, entries([1, 1, 0, 0, 1], 1, 2), seed)
    ones = np.rint(8 * sample).astype(int)
    assert_follows(ones, stats.binom.pmf(np.arange(9), 8, 5 / 8))
    with pytest.raises(AssertionError, match="p ="):  # one prior zero too many
        assert_follows(ones, stats.binom.pmf(np.arange(9), 8, 5 / 9))


@pytest.mark.parametrize(("zeros", "ones"), [(0, 0), (1, 1), (0, 3)])
def test_the_bootstrap_mean_of_real_rewards_is_that_of_drawing_one_by_one(
    seed: int, zeros: int, ones: int
) -> None:
    of = entries(REAL, zeros, ones)
    sample = draws(_multinomial, of, seed).round(9)  # equal means may differ in their last digit
    assert_same_law(sample, literal_multinomial(of, seed))
    with pytest.raises(AssertionError, match="p ="):
        assert_same_law(sample, literal_multinomial(entries(REAL, zeros + 1, ones), seed))


def test_entries_that_are_all_equal_have_their_own_value_as_mean() -> None:
    rng = stream(1)
    for of, value in [(entries([0, 0], 1, 0), 0.0), (entries([1], 0, 2), 1.0)]:
        assert multinomial_mean(of, rng) == value


def test_an_arm_without_any_entry_has_an_infinite_mean() -> None:
    rng, none = stream(1), entries([], 0, 0)
    assert multinomial_mean(none, rng) == np.inf
    assert shifted_mean(none, 0.5, rng) == np.inf
    assert gaussian_mean(none, 0.0, rng) == np.inf


def test_the_shifted_mean_is_that_of_a_gaussian_per_entry(seed: int) -> None:
    of, rng = entries(REAL, 2, 1), stream(seed)
    sample = [shifted_mean(of, 0.5, rng) for _ in range(DRAWS)]
    noise = stream(seed, 1).normal(0, 0.5, size=(DRAWS, 9))
    assert_same_law(sample, (everything(of) + noise).mean(axis=1))
    assert_follows_cdf(sample, stats.norm(everything(of).mean(), 0.5 / 3).cdf)
    with pytest.raises(AssertionError, match="p ="):
        assert_follows_cdf(sample, stats.norm(everything(of).mean(), 0.55 / 3).cdf)


@pytest.mark.parametrize("rewards", [REAL, [0.0, 1.0], [0.4]])
def test_the_gaussian_mean_is_that_of_a_weight_per_entry(rewards, seed: int) -> None:
    of, rng = entries(rewards, 2, 1), stream(seed)
    squares = float(np.square(rewards).sum())
    sample = [gaussian_mean(of, squares, rng) for _ in range(DRAWS)]
    weights = stream(seed, 1).normal(1, 1, size=(2 * DRAWS, len(rewards) + 3))
    weights = weights[weights.sum(axis=1) > 0][:DRAWS]
    literal = (weights * everything(of)).sum(axis=1) / weights.sum(axis=1)
    assert_same_law(sample, literal)
    narrower = [gaussian_mean(of, 0.8 * squares, rng) for _ in range(DRAWS)]
    if rewards is REAL:
        with pytest.raises(AssertionError, match="p ="):
            assert_same_law(narrower, literal)


def test_entries_hold_the_rewards_and_the_prior() -> None:
    rewards = no_rewards(2, 20)
    for i in range(10):
        remember(rewards, 1, i / 10)
    entries = entries_of(rewards, 1, 2, 3)
    assert entries.rewards.tolist() == [i / 10 for i in range(10)]
    assert entries.total == sum(i / 10 for i in range(10))
    assert (entries.binary, entries.zeros, entries.ones) == (False, 2, 3)
    assert entries_of(rewards, 0, 0, 0).rewards.size == 0
