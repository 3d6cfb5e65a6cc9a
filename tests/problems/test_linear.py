"""Means that are linear in a drawn context."""

import math

import numpy as np
import pytest
from laws import assert_follows_cdf
from scipy import stats

from giro import BadParameter, Problem, simulate
from giro.problem import reveal, reward, start
from giro.problems.linear import Linear
from giro.seeds import stream


def test_means_are_the_formula(seed: int) -> None:
    instance, rng = start(Linear(n_arms=4, dimension=5), stream(seed)), stream(seed, 1)
    for t in range(50):
        offer, means, highest = reveal(instance, t, rng)
        assert offer.arms.tolist() == [0, 1, 2, 3]
        wanted = 0.5 + instance.drawn.theta @ np.append(offer.context, 1.0)
        assert np.allclose(means, wanted, rtol=1e-14)
        assert highest == means.max()


def test_shared_parameters_act_on_features_of_arms_drawn_in_each_round(seed: int) -> None:
    problem = Linear(n_arms=4, dimension=3, shared=True)
    assert (problem.n_features, problem.n_arm_features) == (0, 3)
    instance, rng = start(problem, stream(seed)), stream(seed, 1)
    seen = []
    for t in range(2_000):
        offer, means, highest = reveal(instance, t, rng)
        assert (offer.context.size, offer.features.shape) == (0, (4, 3))
        rows = np.column_stack([offer.features, np.ones(4)])
        assert np.allclose(means, 0.5 + rows @ instance.drawn.theta[0], rtol=1e-13)
        assert highest == means.max()
        seen.append(offer.features.copy())
    features = np.array(seen)
    assert instance.drawn.theta.shape == (1, 4)
    assert np.allclose(np.linalg.norm(features, axis=2), 1.0)
    for arm in range(4):  # uniform on the sphere, as contexts are
        assert_follows_cdf(features[:, arm, 1], stats.uniform(-1, 2).cdf)
    signs = np.sign(features[:, 0, 0] * features[:, 1, 0])  # arms are drawn by themselves
    assert abs(signs.sum()) < 5 * math.sqrt(signs.size)


def test_means_lie_between_0_and_1_up_to_the_ends(seed: int) -> None:
    instance, rng = start(Linear(n_arms=200, dimension=1), stream(seed)), stream(seed, 1)
    means = np.array([reveal(instance, t, rng)[1].copy() for t in range(50)])
    assert 0.0 <= means.min() < 0.01
    assert 0.99 < means.max() <= 1.0


def test_with_v_rewards_are_beta_around_the_mean(seed: int) -> None:
    instance, rng = start(Linear(n_arms=1, v=4.0), stream(seed)), stream(seed, 1)
    _, means, _ = reveal(instance, 0, rng)
    rewards = [reward(instance, means, 0, rng) for _ in range(5_000)]
    assert_follows_cdf(rewards, stats.beta(4 * means[0], 4 * (1 - means[0])).cdf)


def test_regret_of_any_arm_is_the_gap_of_known_means(seed: int) -> None:
    problem = Linear(n_arms=1, dimension=3)
    assert simulate("uniform", problem, rounds=50, runs=2, seed=seed).regret.max() == 0.0
    trace = simulate("uniform", Linear(n_arms=5), rounds=500, runs=4, seed=seed)
    assert (np.diff(trace.regret, axis=1) >= 0.0).all()
    assert trace.regret[:, -1].min() > 0.0


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("linear:n_arms=0", "linear needs a whole number n_arms >= 1, got n_arms=0"),
        ("linear:dimension=0", "linear needs a whole number dimension >= 1, got dimension=0"),
        ("linear:v=0", "linear needs a finite v > 0, or none, got v=0"),
        ("linear:v=inf", "finite v"),
        ("linear:dimension=1.5", "whole number"),
    ],
)
def test_what_is_out_of_range_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(BadParameter) as refusal:
        Problem.parse(text)
    assert complaint in str(refusal.value)
