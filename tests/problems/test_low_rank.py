"""Low rank: users, means and rewards, against the definition."""

import numpy as np
import pytest
from laws import assert_follows
from scipy import stats

from giro import BadParameter
from giro.problem import reveal, reward, start
from giro.problems.low_rank import LowRank
from giro.seeds import stream


def test_means_have_the_rank_and_lie_in_the_unit_interval(seed: int) -> None:
    means = start(LowRank(n_arms=12, users=20, rank=3), stream(seed)).means
    assert np.linalg.matrix_rank(means) == 3
    assert means.min() >= 0.0
    assert means.max() <= 1.0


def test_weights_follow_the_dirichlet_distribution(seed: int) -> None:
    """Shown by ratios of differences between users: with two tastes these are those of weights."""
    rng, found = stream(seed, 1), []
    for run in range(400):
        means = start(LowRank(n_arms=20, users=3), stream(seed, run, 1)).means
        found.append(float(np.median((means[2] - means[0]) / (means[1] - means[0]))))
    first = rng.dirichlet([0.2, 0.2], (3, 200_000))[:, :, 0]
    ratios = (first[2] - first[0]) / (first[1] - first[0])
    assert stats.ks_2samp(found, ratios).pvalue > 1e-6


def test_every_user_comes_as_often_and_is_shown_by_the_context(seed: int) -> None:
    instance, rng = start(LowRank(users=4), stream(seed)), stream(seed, 1)
    users = []
    for t in range(4_000):
        offer, means, highest = reveal(instance, t, rng)
        users.append(int(offer.context.argmax()))
        assert offer.context.sum() == 1.0
        assert means == pytest.approx(instance.means[users[-1]])
        assert highest == means.max()
    assert_follows(users, [0.25] * 4)


def test_rewards_have_the_mean(seed: int) -> None:
    instance, rng = start(LowRank(), stream(seed)), stream(seed, 1)
    means = instance.means[3]
    for arm in (0, 7):
        rewards = [int(reward(instance, means, arm, rng)) for _ in range(4_000)]
        assert_follows(rewards, [1 - means[arm], means[arm]])


@pytest.mark.parametrize("wrong", [{"users": 0}, {"rank": 0}, {"n_arms": 0}, {"users": 1.5}])
def test_sizes_are_whole_numbers(wrong: dict[str, float]) -> None:
    (name,) = wrong
    with pytest.raises(BadParameter, match=f"low-rank needs .*{name}"):
        LowRank(**wrong)  # type: ignore[arg-type]
