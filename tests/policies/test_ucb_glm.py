"""UCB-GLM: its bounds, with SciPy's fits and direct solves."""

import math
from typing import Any

import numpy as np
import pytest
from laws import assert_follows
from live_kernels import law_of
from policies.in_context import Past, chosen, informed, some_past, with_constant
from policies.logistic_twin import fitted

from giro.errors import BadParameter
from giro.offer import Offer, offer_of
from giro.policies.ucb_glm import UcbGlm, _bounds
from giro.seeds import stream


def literal_bounds(past: Past, x: np.ndarray, policy: UcbGlm, rounds: int) -> np.ndarray:
    """Li et al. (2017), Algorithm 1 and Theorem 2, for each arm by itself, with a penalty."""
    d, z = x.size, policy.norm + 1
    kappa = math.exp(z) / (1 + math.exp(z)) ** 2
    alpha = policy.scale
    if alpha is None:
        alpha = (
            0.5
            / kappa
            * math.sqrt(d / 2 * math.log(1 + 2 * rounds / d) + math.log(1 / policy.delta))
        )
    bounds = []
    for contexts, rewards in past.each():
        v = policy.penalty * np.eye(d) + contexts.T @ contexts
        theta = fitted(contexts, np.ones(len(rewards)), rewards, policy.penalty)
        bounds.append(x @ theta + alpha * math.sqrt(x @ np.linalg.solve(v, x)))
    return np.array(bounds)


@pytest.mark.parametrize("policy", [UcbGlm(), UcbGlm(0.3, penalty=0.1), UcbGlm(norm=2, delta=0.3)])
def test_bounds_are_those_of_direct_fits(policy: UcbGlm, seed: int) -> None:
    past = some_past(rounds=200, d=6, n_arms=4, seed=seed, tried=3)
    state = informed(policy, past)
    for x in past.contexts[:15]:
        literal, offer = literal_bounds(past, with_constant(x), policy, 201), offer_of(4, x)
        np.testing.assert_allclose(_bounds(state, offer), literal, rtol=1e-7, atol=1e-7)
        assert chosen(state, offer, draws=1, seed=seed) == np.argmax(literal)
        assert law_of(state, offer)[np.argmax(literal)] == 1.0


def test_the_first_tau_rewards_are_those_of_drawn_arms(seed: int) -> None:
    past = some_past(rounds=9, d=5, n_arms=3, seed=seed)
    state, offer = informed(UcbGlm(tau=10), past, rounds=20), offer_of(3, past.contexts[0])
    assert_follows(chosen(state, offer, draws=3000, seed=seed), [1 / 3] * 3)
    np.testing.assert_allclose(law_of(state, offer), 1 / 3)
    after = informed(UcbGlm(tau=9), past)
    assert np.unique(chosen(after, offer, draws=50, seed=seed)).size == 1


@pytest.mark.parametrize(
    ("d", "arms", "parameters"), [(3, [0, 1, 2, 3], 16), (0, [0, 1, 2, 3], 4), (3, [1, 3], 8)]
)
def test_tau_is_by_default_the_number_of_parameters_of_the_arms_on_offer(
    d: int, arms: list[int], parameters: int, seed: int
) -> None:
    for rewards in (parameters - 1, parameters):
        contexts = stream(seed, d).normal(size=(rewards, d))
        past = Past(contexts, np.arange(rewards) % 4, stream(seed).random(rewards).round(), 4)
        offer = Offer(np.array(arms), stream(seed, 1).normal(size=d), np.empty((0, 0)))
        law = law_of(informed(UcbGlm(0.1), past, rounds=100), offer)
        assert (law == 1 / len(arms)).all() == (rewards < parameters)


@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_equal_rewards_in_equal_contexts_leave_finite_bounds(reward: float, seed: int) -> None:
    past = Past(np.full((90, 4), 200.0), np.arange(90) % 3, np.full(90, reward), 3)
    state = informed(UcbGlm(), past)
    assert np.isfinite(_bounds(state, offer_of(3, np.full(4, 200.0)))).all()
    assert np.sign(state.arms.theta).tolist() == [[2 * reward - 1] * 5] * 3


@pytest.mark.parametrize(
    "wrong",
    [
        {"scale": -1.0},
        {"tau": -1},
        {"tau": 1.5},
        {"penalty": 0.0},
        {"delta": 2.0},
        {"norm": math.inf},
    ],
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(BadParameter, match=f"ucb-glm needs .*{name}"):
        UcbGlm(**wrong)
