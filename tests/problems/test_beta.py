"""Beta arms."""

import pytest
from laws import assert_follows_cdf
from scipy import stats

from giro.problem import reveal, reward, start
from giro.problems.beta import Beta
from giro.seeds import stream


def test_beta_rewards_follow_their_law(seed: int) -> None:
    instance, rng = start(Beta(means=(0.3,), v=4.0), stream(seed)), stream(seed, 1)
    _, means, _ = reveal(instance, 0, rng)
    rewards = [reward(instance, means, 0, rng) for _ in range(20_000)]
    assert_follows_cdf(rewards, stats.beta(1.2, 2.8).cdf)


@pytest.mark.parametrize("mean", [0.0, 1.0])
def test_a_beta_arm_of_mean_0_or_1_is_constant(mean: float, seed: int) -> None:
    instance, rng = start(Beta(means=(mean,)), stream(seed)), stream(seed, 1)
    assert {reward(instance, instance.means, 0, rng) for _ in range(100)} == {mean}
