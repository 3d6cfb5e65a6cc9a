"""The paper's logistic reward model."""

import math

import numpy as np
import pytest
from scipy.special import expit

from giro import BadParameter, Problem
from giro.problem import reveal, reward, start
from giro.problems.logistic import Logistic
from giro.seeds import stream


def test_means_are_the_formula(seed: int) -> None:
    instance, rng = start(Logistic(n_arms=4, dimension=5), stream(seed)), stream(seed, 1)
    for t in range(50):
        offer, means, highest = reveal(instance, t, rng)
        wanted = expit(instance.drawn.theta @ np.append(offer.context, 1.0))
        assert np.allclose(means, wanted, rtol=1e-13)
        assert highest == means.max()


def test_shared_parameters_act_on_features_of_arms(seed: int) -> None:
    problem = Logistic(n_arms=4, dimension=5, shared=True)
    instance, rng = start(problem, stream(seed)), stream(seed, 1)
    for t in range(50):
        offer, means, highest = reveal(instance, t, rng)
        rows = np.column_stack([offer.features, np.ones(4)])
        assert np.allclose(means, expit(rows @ instance.drawn.theta[0]), rtol=1e-13)
        assert highest == means.max()


@pytest.mark.parametrize("strength", [0.0, 2.0, 500.0])
def test_strength_is_the_length_of_the_parameters(strength: float, seed: int) -> None:
    instance = start(Logistic(strength=strength), stream(seed))
    assert np.allclose(np.linalg.norm(instance.drawn.theta, axis=1), strength)
    _, means, _ = reveal(instance, 0, stream(seed, 1))
    assert np.isfinite(means).all()


def test_without_strength_all_arms_are_alike(seed: int) -> None:
    instance = start(Logistic(n_arms=3, strength=0.0), stream(seed))
    assert reveal(instance, 0, stream(seed, 1))[1].tolist() == [0.5, 0.5, 0.5]


def test_rewards_are_0_or_1(seed: int) -> None:
    instance, rng = start(Logistic(strength=1.0), stream(seed)), stream(seed, 1)
    _, means, _ = reveal(instance, 0, rng)
    assert {reward(instance, means, 0, rng) for _ in range(200)} == {0.0, 1.0}


@pytest.mark.parametrize("strength", [-1.0, 501.0, math.nan, math.inf])
def test_a_strength_out_of_range_is_refused(strength: float) -> None:
    with pytest.raises(BadParameter, match="logistic needs 0 <= strength <= 500"):
        Logistic(strength=strength)


def test_arms_and_dimensions_are_checked() -> None:
    with pytest.raises(
        BadParameter, match="logistic needs a whole number n_arms >= 1, got n_arms=0"
    ):
        Problem.parse("logistic:n_arms=0")
