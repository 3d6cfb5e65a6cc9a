"""The wheel: contexts, means and rewards, against the definition."""

import numpy as np
import pytest
from laws import assert_follows, assert_follows_cdf
from scipy import stats

from giro import BadParameter, simulate
from giro.problem import reveal, reward, start
from giro.problems.wheel import Wheel
from giro.seeds import stream


def literal_means(x: np.ndarray, delta: float) -> list[float]:
    """Riquelme et al. (2018), Section 5.4."""
    means = [1.0, 1.0, 1.0, 1.0, 1.2]
    if np.hypot(*x) >= delta:
        quarters = [(True, True), (True, False), (False, True), (False, False)]
        means[quarters.index((x[0] > 0, x[1] > 0))] = 50.0
    return means


def test_means_are_those_of_the_definition(seed: int) -> None:
    instance, rng = start(Wheel(0.8), stream(seed)), stream(seed, 1)
    for t in range(500):
        offer, means, highest = reveal(instance, t, rng)
        assert 51 * means == pytest.approx(literal_means(offer.context, 0.8))
        assert highest == means.max()


def test_contexts_are_uniform_points_of_the_disk(seed: int) -> None:
    instance, rng = start(Wheel(), stream(seed)), stream(seed, 1)
    points = np.array([reveal(instance, t, rng)[0].context.copy() for t in range(5_000)])
    assert_follows_cdf((points**2).sum(axis=1), stats.uniform(0, 1).cdf)
    assert_follows_cdf(np.arctan2(*points.T), stats.uniform(-np.pi, 2 * np.pi).cdf)
    on_the_rim = np.hypot(*points.T) >= 0.9
    assert_follows(on_the_rim.astype(int), [0.81, 0.19])


def test_rewards_are_normal_around_the_mean(seed: int) -> None:
    instance, rng = start(Wheel(), stream(seed)), stream(seed, 1)
    means = np.array(literal_means(np.array([0.0, 1.0]), 0.95)) / 51
    for arm, mean in enumerate(means):
        rewards = [51 * reward(instance, means, arm, rng) for _ in range(2_000)]
        assert_follows_cdf(rewards, stats.norm(51 * mean, 0.01).cdf)


def test_the_regret_of_uniform_is_the_mean_gap(seed: int) -> None:
    delta, rounds = 0.7, 2_000
    trace = simulate("uniform", Wheel(delta), rounds=rounds, runs=4, seed=seed)
    on_the_rim, inside = (3 * 49 + 48.8) / 5, 4 * 0.2 / 5
    gap = ((1 - delta**2) * on_the_rim + delta**2 * inside) / 51
    assert trace.regret[:, -1].mean() == pytest.approx(rounds * gap, rel=0.1)


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.5, float("nan")])
def test_delta_lies_between_0_and_1(delta: float) -> None:
    with pytest.raises(BadParameter, match="wheel needs 0 < delta < 1"):
        Wheel(delta)
