"""An arm passes the tail test as often as its sample reaches the threshold."""

import numpy as np
import pytest
from kernels.histories import literal_means, partial_samples, some_rewards
from laws import ALPHA, assert_same_law
from scipy import stats

from giro.compiling import kernel
from giro.kernels.giro.lazy_argmax import rate_of, tail_test
from giro.kernels.giro.partial_sample import PartialSamples, add, begin
from giro.seeds import stream

DRAWS = 60_000
CASES = [("binary", 20), ("binary", 300), ("three values", 25), ("any", 12), ("any", 150)]


@kernel
def _passed(samples: PartialSamples, arm: int, a: float, x: float, draws: int, rng) -> np.ndarray:
    """Return the mean of the arm's sample for each draw in which it passed, -1 for others."""
    arms, means = np.arange(samples.counts.shape[0]), np.empty(draws)
    for i in range(draws):
        begin(samples, arms, a, rng)
        tail_test(samples, arm, x, rng)
        its = samples.rewards.arms[arm]
        means[i] = -1.0 if its.out else its.centre
    return means


def threshold(rewards: np.ndarray, a: int, deviations: float) -> float:
    """Return what lies so many standard deviations above the expected mean of a sample."""
    entries = np.concatenate([rewards, np.tile([0.0, 1.0], a * rewards.size)])
    return float(entries.mean() + deviations * entries.std() / np.sqrt(entries.size))


@pytest.mark.parametrize("deviations", [0.5, 1.5, 2.5])
@pytest.mark.parametrize(("kind", "size"), CASES)
def test_an_arm_passes_as_often_as_it_reaches_the_threshold_and_then_has_the_law_given_that(
    kind: str, size: int, deviations: float, seed: int
) -> None:
    rewards, rng = some_rewards(kind, size, seed), stream(seed, size)
    x = threshold(rewards, 1, deviations) + 1e-7  # between the values that are rounded
    drawn = _passed(partial_samples([np.ones(2), rewards]), 1, 1.0, x, DRAWS, rng)
    literal = literal_means(rewards, 1, DRAWS, rng)
    passed, reached = drawn[drawn >= 0.0], literal[literal >= x]
    assert passed.min() >= x
    table = [[passed.size, DRAWS - passed.size], [reached.size, DRAWS - reached.size]]
    assert stats.chi2_contingency(table, correction=False).pvalue > ALPHA
    assert_same_law(passed.round(9), reached.round(9))


def test_a_test_of_another_threshold_is_noticed(seed: int) -> None:
    rewards, rng = some_rewards("any", 30, seed), stream(seed)
    x, other = threshold(rewards, 1, 1.5), threshold(rewards, 1, 1.6)
    samples = partial_samples([rewards])
    passed = [(_passed(samples, 0, 1.0, at, DRAWS, rng) >= 0.0).sum() for at in (x, other)]
    table = [[n, DRAWS - n] for n in passed]
    assert stats.chi2_contingency(table, correction=False).pvalue < ALPHA


def test_what_a_tail_test_remembers_is_forgotten_with_the_next_reward(seed: int) -> None:
    rewards, rng = some_rewards("any", 30, seed), stream(seed)
    x = threshold(rewards, 1, 2.0)
    used, fresh = partial_samples([rewards[:-1]]), partial_samples([rewards])
    _passed(used, 0, 1.0, x, 10, rng)
    add(used, 0, float(rewards[-1]))
    ours, theirs = (_passed(each, 0, 1.0, x, 2_000, stream(seed, 1)) for each in (used, fresh))
    assert ours.tolist() == theirs.tolist()


def test_the_rate_is_half_the_squared_distance_in_deviations(seed: int) -> None:
    rewards = some_rewards("any", 200, seed)
    samples = partial_samples([rewards])
    begin(samples, np.arange(1), 1.0, stream(seed))
    assert rate_of(samples, 0, threshold(rewards, 1, 3.0)) == pytest.approx(4.5, rel=1e-6)
    assert rate_of(samples, 0, threshold(rewards, 1, -1.0)) == 0.0
