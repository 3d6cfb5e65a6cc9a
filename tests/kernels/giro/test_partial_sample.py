"""Samples drawn only as finely as needed have, in the end, the law of bootstrap samples."""

import math

import numpy as np
import pytest
from kernels.histories import entries_of, literal_means, partial_samples, some_rewards
from laws import assert_follows, assert_same_law
from scipy import stats

from giro.compiling import kernel
from giro.kernels.giro.partial_sample import PartialSamples, begin, cumulant, finish, refine
from giro.seeds import stream

DRAWS = 4_000
KINDS = ["binary", "three values", "any", "equal"]
SIZES = [1, 7, 130, 700]  # from 128 on samples are refined in steps


@kernel
def _means(
    samples: PartialSamples, arm: int, a: float, steps: int, u: float, draws: int, rng
) -> np.ndarray:
    """Return means of samples: refined a few times, then finished under the weighted law."""
    arms, means = np.arange(samples.counts.shape[0]), np.empty(draws)
    for i in range(draws):
        begin(samples, arms, a, rng)
        for _ in range(steps):
            if samples.rewards.arms[arm].noise > 0.0:
                refine(samples, arm, rng)
        finish(samples, arm, u, rng)
        means[i] = samples.rewards.arms[arm].centre
    return means


@pytest.mark.parametrize("steps", [0, 1, 3, 99])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_samples_have_the_law_of_drawing_every_entry(
    kind: str, size: int, steps: int, seed: int
) -> None:
    rewards = some_rewards(kind, size, seed)
    samples, rng = partial_samples([np.ones(3), rewards]), stream(seed, size)
    drawn = _means(samples, 1, 1.0, steps, 0.0, DRAWS, rng)
    if kind == "binary":
        m, ones = 3 * size, rewards.sum() + size
        law = stats.binom.pmf(np.arange(m + 1), m, ones / m)
        assert_follows(np.round(drawn * m).astype(int), law)
    else:
        literal = literal_means(rewards, 1, DRAWS, rng)
        assert_same_law(drawn.round(9), literal.round(9))


def test_one_entry_that_is_another_is_noticed(seed: int) -> None:
    rewards, rng = some_rewards("any", 40, seed), stream(seed)
    other = np.append(rewards[:-4], np.ones(4))
    drawn = _means(partial_samples([rewards]), 0, 1.0, 2, 0.0, 20_000, rng)
    with pytest.raises(AssertionError, match="p ="):
        assert_same_law(drawn, literal_means(other, 1, 20_000, rng))


@pytest.mark.parametrize("u", [-2.0, 0.7, 3.0])
@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_finished_under_the_weighted_law_has_weighted_entries(
    kind: str, u: float, seed: int
) -> None:
    rewards, rng = some_rewards(kind, 30, seed), stream(seed, 1)
    drawn = _means(partial_samples([rewards]), 0, 1.0, 0, u, DRAWS, rng)
    assert_same_law(drawn.round(9), literal_means(rewards, 1, DRAWS, rng, u).round(9))


@pytest.mark.parametrize("u", [-0.5, 0.3])
@pytest.mark.parametrize("kind", KINDS)
def test_the_cumulant_of_an_undrawn_sample_is_that_of_its_entries(
    kind: str, u: float, seed: int
) -> None:
    rewards = some_rewards(kind, 200, seed)
    samples = partial_samples([rewards])
    begin(samples, np.arange(1), 2.0, stream(seed))
    entries = entries_of(rewards, 2)
    wanted = entries.size * math.log(np.exp(u * (entries - entries.mean())).mean())
    assert cumulant(samples, 0, u) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("kind", ["three values", "any"])
def test_what_is_left_has_the_mean_noise_and_cumulant_that_the_record_says(
    kind: str, seed: int
) -> None:
    rewards, rng = some_rewards(kind, 700, seed), stream(seed, 2)
    samples = partial_samples([rewards])
    begin(samples, np.arange(1), 1.0, rng)
    refine(samples, 0, rng)
    its, kept, counts = samples.rewards.arms[0], samples.rewards.arms.copy(), samples.counts.copy()
    centre, noise, m = float(its.centre), float(its.noise), int(its.m)
    logs = {u: cumulant(samples, 0, u) for u in (-0.4, 0.4)}
    means = np.empty(DRAWS)
    for i in range(DRAWS):  # the same refinement, finished again and again
        samples.rewards.arms[:], samples.counts[:] = kept, counts
        finish(samples, 0, 0.0, rng)
        means[i] = samples.rewards.arms[0].centre
    error = math.sqrt(noise / DRAWS)
    assert abs(means.mean() - centre) < 6 * error
    assert means.var() == pytest.approx(noise, rel=0.2)
    for u, wanted in logs.items():
        assert np.log(np.mean(np.exp(u * m * (means - centre)))) == pytest.approx(wanted, rel=0.25)


def test_only_samples_of_arms_on_offer_are_begun(seed: int) -> None:
    samples, rng = (
        partial_samples([some_rewards("any", 5, seed + i) for i in range(4)]),
        stream(seed),
    )
    begin(samples, np.arange(4), 1.0, rng)
    for arm in range(4):
        finish(samples, arm, 0.0, rng)
    before = samples.rewards.arms.copy()
    begin(samples, np.array([1, 3]), 2.0, rng)
    assert (samples.rewards.arms[[0, 2]] == before[[0, 2]]).all()
    assert samples.rewards.arms["m"].tolist() == [15, 25, 15, 25]
    assert (samples.rewards.arms["noise"][[1, 3]] > 0.0).all()


def test_an_arm_without_rewards_has_an_infinite_centre(seed: int) -> None:
    samples = partial_samples([np.array([0.5]), np.empty(0)])
    begin(samples, np.arange(2), 1.0, stream(seed))
    assert samples.rewards.arms["centre"].tolist() == [0.5, np.inf]
