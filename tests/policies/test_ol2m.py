"""OL2M: its bounds, by dense matrices and Theorem 1."""

import math
from typing import Any

import numpy as np
import pytest
from live_kernels import law_of
from policies.in_context import Past, chosen, informed, some_past, with_constant
from policies.online_newton_twin import literal_step
from scipy.special import expit

from giro.errors import BadParameter
from giro.offer import offer_of
from giro.policies.ol2m import Ol2m, _bounds


def literal_bounds(past: Past, x: np.ndarray, policy: Ol2m) -> np.ndarray:
    """Zhang et al. (2016), Algorithm 1 and Theorem 1, for each arm by itself."""
    bounds, r = [], policy.norm
    b = 1 / (2 * (1 + math.exp(r)))
    for rows, rewards in past.each():
        prior = policy.penalty * np.eye(x.size)
        z, theta, t = prior, np.zeros(x.size), rewards.size + 1
        for row, reward in zip(rows, rewards, strict=True):
            z = z + b / 2 * np.outer(row, row)
            theta = literal_step(theta, z, (expit(row @ theta) - reward) * row, r)
        tau = math.log(4 * math.log(t + 1) * t**2 / policy.delta)
        ratio = np.linalg.slogdet(z)[1] - np.linalg.slogdet(prior)[1]
        gamma = 8 * r + policy.penalty * r**2 + (8 / b + 16 * r / 3) * tau + 2 / b * ratio
        radius = math.sqrt(gamma) if policy.scale is None else policy.scale
        bounds.append(x @ theta + radius * math.sqrt(x @ np.linalg.solve(z, x)))
    return np.array(bounds)


@pytest.mark.parametrize(
    "policy", [Ol2m(), Ol2m(0.3, penalty=0.1), Ol2m(norm=0.2, delta=0.3), Ol2m(norm=3)]
)
def test_bounds_are_those_of_dense_matrices(policy: Ol2m, seed: int) -> None:
    past = some_past(rounds=200, d=6, n_arms=4, seed=seed, tried=3)
    state = informed(policy, past)
    for x in past.contexts[:10]:
        literal, offer = literal_bounds(past, with_constant(x), policy), offer_of(4, x)
        np.testing.assert_allclose(_bounds(state, offer), literal, rtol=1e-7, atol=1e-7)
        assert chosen(state, offer, draws=1, seed=seed) == np.argmax(literal)
        assert law_of(state, offer)[np.argmax(literal)] == 1.0


def test_a_wrong_constant_is_noticed(seed: int) -> None:
    past = some_past(rounds=100, d=5, n_arms=2, seed=seed)
    state, x = informed(Ol2m(), past), past.contexts[0]
    literal = literal_bounds(past, with_constant(x), Ol2m(delta=0.06))
    assert not np.allclose(_bounds(state, offer_of(2, x)), literal, rtol=1e-4)


@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_equal_rewards_in_equal_contexts_leave_finite_bounds(reward: float) -> None:
    past = Past(np.full((90, 4), 200.0), np.arange(90) % 3, np.full(90, reward), 3)
    state = informed(Ol2m(), past)
    assert np.isfinite(_bounds(state, offer_of(3, np.full(4, 200.0)))).all()
    assert np.linalg.norm(state.theta, axis=1).max() <= 1.0 + 1e-9


@pytest.mark.parametrize(
    "wrong", [{"scale": -1.0}, {"penalty": 0.0}, {"delta": 1.0}, {"norm": 0.0}, {"norm": 101.0}]
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(BadParameter, match=f"ol2m needs .*{name}"):
        Ol2m(**wrong)
