"""LinUCB: its bounds, solved directly."""

import math
from typing import Any

import numpy as np
import pytest
from live_kernels import law_of
from policies.in_context import Past, chosen, informed, some_past, with_constant

from giro.errors import BadParameter
from giro.offer import offer_of
from giro.policies.lin_ucb import LinUcb, _bounds
from giro.seeds import stream


def literal_bounds(past: Past, x: np.ndarray, policy: LinUcb) -> np.ndarray:
    """Abbasi-Yadkori et al. (2011), Theorem 2, for each arm by itself."""
    bounds, penalty = [], policy.penalty
    for contexts, rewards in past.each():
        v = penalty * np.eye(x.size) + contexts.T @ contexts
        theta = np.linalg.solve(v, contexts.T @ rewards)
        ratio = np.linalg.det(v) ** 0.5 * np.linalg.det(penalty * np.eye(x.size)) ** -0.5
        radius = 0.5 * math.sqrt(2 * math.log(ratio / policy.delta))
        radius += math.sqrt(penalty) * policy.norm
        if policy.scale is not None:
            radius = policy.scale
        bounds.append(x @ theta + radius * math.sqrt(x @ np.linalg.solve(v, x)))
    return np.array(bounds)


@pytest.mark.parametrize("policy", [LinUcb(), LinUcb(0.7), LinUcb(penalty=0.1, delta=0.3, norm=3)])
def test_bounds_are_those_of_direct_solves(policy: LinUcb, seed: int) -> None:
    past = some_past(rounds=600, d=8, n_arms=4, seed=seed, tried=3)
    state = informed(policy, past)
    for x in past.contexts[:50]:
        literal, offer = literal_bounds(past, with_constant(x), policy), offer_of(4, x)
        np.testing.assert_allclose(_bounds(state, offer), literal, rtol=1e-9, atol=1e-9)
        assert chosen(state, offer, draws=1, seed=seed) == np.argmax(literal)
        assert np.argmax(law_of(state, offer)) == np.argmax(literal)


def test_the_bounds_of_ten_thousand_rewards_are_those_of_a_direct_solve(seed: int) -> None:
    past = some_past(rounds=10_000, d=12, n_arms=2, seed=seed)
    state = informed(LinUcb(), past)
    for x in past.contexts[-20:]:
        literal = literal_bounds(past, with_constant(x), LinUcb())
        np.testing.assert_allclose(_bounds(state, offer_of(2, x)), literal, rtol=1e-8, atol=0)


def test_an_arm_never_pulled_has_the_width_of_the_penalty(seed: int) -> None:
    past = some_past(rounds=50, d=5, n_arms=3, seed=seed, tried=2)
    x = past.contexts[0]
    state = informed(LinUcb(0.5, penalty=4.0), past)
    length = np.linalg.norm(with_constant(x))
    assert _bounds(state, offer_of(3, x))[2] == pytest.approx(0.5 * length / 2)


def test_without_any_reward_all_arms_tie(seed: int) -> None:
    past = some_past(rounds=0, d=4, n_arms=3, seed=seed)
    state, offer = informed(LinUcb(), past), offer_of(3, stream(seed).normal(size=4))
    assert set(chosen(state, offer, draws=200, seed=seed)) == {0, 1, 2}
    np.testing.assert_allclose(law_of(state, offer), 1 / 3)
    fixed = informed(LinUcb(ties="fixed"), past)
    (arm,) = set(chosen(fixed, offer, draws=200, seed=seed))
    assert law_of(fixed, offer)[arm] == 1.0


@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_equal_rewards_in_equal_contexts_leave_finite_bounds(reward: float, seed: int) -> None:
    past = Past(np.full((300, 6), 200.0), np.arange(300) % 3, np.full(300, reward), 3)
    bounds = _bounds(informed(LinUcb(), past), offer_of(3, np.full(6, 200.0)))
    assert np.isfinite(bounds).all()
    assert np.all(bounds > reward - 1e-5)


@pytest.mark.parametrize(
    "wrong",
    [{"scale": -1.0}, {"scale": math.inf}, {"penalty": 0.0}, {"delta": 1.0}, {"norm": -1.0}],
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(BadParameter, match=f"lin-ucb needs .*{name}"):
        LinUcb(**wrong)
