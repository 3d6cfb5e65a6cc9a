"""Gaussian arms, clipped so that the mean stays."""

import numpy as np
import pytest
from laws import assert_follows_cdf
from scipy import stats

from giro import BadParameter
from giro.problem import reward, start
from giro.problems.gaussian import Gaussian
from giro.seeds import stream


def rewards_of(problem: Gaussian, seed: int, draws: int = 20_000) -> np.ndarray:
    instance, rng = start(problem, stream(seed)), stream(seed, 1)
    return np.array([reward(instance, instance.means, 0, rng) for _ in range(draws)])


def test_rewards_are_normal_where_nothing_is_clipped(seed: int) -> None:
    assert_follows_cdf(rewards_of(Gaussian(means=(0.4,), sd=0.05), seed), stats.norm(0.4, 0.05).cdf)


def test_noise_is_clipped_on_both_sides_alike(seed: int) -> None:
    rewards = rewards_of(Gaussian(means=(0.3,), sd=0.2), seed)
    assert rewards.max() == pytest.approx(0.6)
    assert rewards.min() == 0.0
    inside = rewards[(rewards > 0.0) & (rewards < 0.6 - 1e-12)]
    law = stats.truncnorm(-1.5, 1.5, loc=0.3, scale=0.2)
    assert_follows_cdf(inside, law.cdf)
    share = 1 - inside.size / rewards.size
    assert (
        stats.binomtest(rewards.size - inside.size, rewards.size, 2 * stats.norm.sf(1.5)).pvalue
        > 1e-6
    ), share


@pytest.mark.parametrize("mean", [0.0, 1.0])
def test_an_arm_of_mean_0_or_1_is_constant(mean: float, seed: int) -> None:
    assert set(rewards_of(Gaussian(means=(mean,)), seed, 100)) == {mean}


def test_the_law_has_the_mean_and_the_variance_of_rewards(seed: int) -> None:
    problem = Gaussian(means=(0.3,), sd=0.2)
    law, rewards = problem.law(start(problem, stream(seed)), 0), rewards_of(problem, seed)
    assert law.weights.sum() == pytest.approx(1.0)
    assert law.weights @ law.values == pytest.approx(0.3)
    variance = law.weights @ (law.values - 0.3) ** 2
    assert variance == pytest.approx(rewards.var(), rel=0.05)


def test_sd_is_positive() -> None:
    with pytest.raises(BadParameter, match="gaussian needs a finite sd > 0"):
        Gaussian(sd=0.0)
