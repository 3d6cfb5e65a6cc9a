"""GLM-UCB: its bounds, with SciPy's fits and direct solves."""

import math
from typing import Any

import numpy as np
import pytest
from live_kernels import law_of
from policies.in_context import Past, chosen, informed, some_past, with_constant
from policies.logistic_twin import fitted
from scipy.special import expit

from giro.errors import BadParameter
from giro.offer import offer_of
from giro.policies.glm_ucb import GlmUcb, _bounds


def literal_bounds(past: Past, x: np.ndarray, policy: GlmUcb, rounds: int) -> np.ndarray:
    """Filippi et al. (2010), Algorithm 1, for each arm by itself, with a penalty."""
    d, t = x.size, past.arms.size + 1
    kappa = math.sqrt(3 + 2 * math.log(1 + 2 * 1**2 / policy.penalty))
    least_slope = expit(policy.norm) * (1 - expit(policy.norm))
    rho = 2 * 0.25 * kappa * 1 / least_slope
    rho *= math.sqrt(2 * d * math.log(t) * math.log(2 * d * rounds / policy.delta))
    if policy.scale is not None:
        rho = policy.scale
    bounds = []
    for contexts, rewards in past.each():
        m = policy.penalty * np.eye(d) + contexts.T @ contexts
        theta = fitted(contexts, np.ones(len(rewards)), rewards, policy.penalty)
        bounds.append(expit(x @ theta) + rho * math.sqrt(x @ np.linalg.solve(m, x)))
    return np.array(bounds)


@pytest.mark.parametrize("policy", [GlmUcb(), GlmUcb(0.3, penalty=0.1), GlmUcb(norm=2, delta=0.3)])
def test_bounds_are_those_of_direct_fits(policy: GlmUcb, seed: int) -> None:
    past = some_past(rounds=200, d=6, n_arms=4, seed=seed, tried=3)
    state = informed(policy, past)
    for x in past.contexts[:15]:
        literal, offer = literal_bounds(past, with_constant(x), policy, 201), offer_of(4, x)
        np.testing.assert_allclose(_bounds(state, offer), literal, rtol=1e-7, atol=1e-7)
        assert chosen(state, offer, draws=1, seed=seed) == np.argmax(literal)
        assert law_of(state, offer)[np.argmax(literal)] == 1.0


def test_in_the_first_round_all_arms_tie(seed: int) -> None:
    past = some_past(rounds=0, d=4, n_arms=3, seed=seed)
    state, offer = informed(GlmUcb(), past), offer_of(3, np.ones(4))
    assert set(chosen(state, offer, draws=200, seed=seed)) == {0, 1, 2}
    np.testing.assert_allclose(law_of(state, offer), 1 / 3)


@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_equal_rewards_in_equal_contexts_leave_finite_bounds(reward: float, seed: int) -> None:
    past = Past(np.full((90, 4), 200.0), np.arange(90) % 3, np.full(90, reward), 3)
    bounds = _bounds(informed(GlmUcb(0.0), past), offer_of(3, np.full(4, 200.0)))
    np.testing.assert_allclose(bounds, reward, atol=0.01)


@pytest.mark.parametrize(
    "wrong", [{"scale": -1.0}, {"penalty": 0.0}, {"delta": 2.0}, {"norm": math.nan}]
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(BadParameter, match=f"glm-ucb needs .*{name}"):
        GlmUcb(**wrong)
