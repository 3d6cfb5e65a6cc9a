"""LinTS: one normal draw an arm, against drawing all its parameters."""

import math
from typing import Any

import numpy as np
import pytest
from laws import assert_follows, p_value_of_same_counts
from live_kernels import law_of
from policies.in_context import Past, chosen, informed, some_past, with_constant

from giro.errors import BadParameter
from giro.offer import offer_of
from giro.policies.lin_ts import LinTs
from giro.seeds import stream

DRAWS = 40_000


def literal_arms(past: Past, x: np.ndarray, policy: LinTs, seed: int) -> np.ndarray:
    """Agrawal and Goyal (2013), Algorithm 1, for each arm by itself, many times over."""
    rng, t, d = stream(seed, 7), past.arms.size + 1, x.size
    v = 0.5 * math.sqrt(9 * d * math.log(t / policy.delta))
    if policy.scale is not None:
        v = policy.scale
    values = []
    for contexts, rewards in past.each():
        b = policy.penalty * np.eye(d) + contexts.T @ contexts
        mean, covariance = np.linalg.solve(b, contexts.T @ rewards), v**2 * np.linalg.inv(b)
        values.append(rng.multivariate_normal(mean, covariance, DRAWS) @ x)
    return np.argmax(values, axis=0)


@pytest.mark.parametrize("policy", [LinTs(), LinTs(0.5), LinTs(penalty=0.1, delta=0.3)])
def test_arms_are_pulled_as_often_as_if_all_parameters_were_drawn(policy: LinTs, seed: int) -> None:
    past = some_past(rounds=300, d=6, n_arms=4, seed=seed, tried=3)
    state, x = informed(policy, past), past.contexts[1]
    arms = chosen(state, offer_of(4, x), draws=DRAWS, seed=seed)
    literal = literal_arms(past, with_constant(x), policy, seed)
    assert p_value_of_same_counts(np.bincount(arms), np.bincount(literal)) > 1e-6
    assert_follows(arms, law_of(state, offer_of(4, x)))


def test_a_slightly_wrong_spread_is_noticed(seed: int) -> None:
    past = some_past(rounds=300, d=6, n_arms=4, seed=0)
    offer = offer_of(4, past.contexts[1])
    arms = chosen(informed(LinTs(0.5), past), offer, draws=DRAWS, seed=seed)
    wrong = law_of(informed(LinTs(0.55), past), offer)
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(arms, wrong)


def test_the_draws_of_ten_thousand_rewards_follow_the_law_of_direct_solves(seed: int) -> None:
    past = some_past(rounds=10_000, d=12, n_arms=3, seed=seed)
    policy, x = LinTs(scale=20.0), past.contexts[5]
    arms = chosen(informed(policy, past), offer_of(3, x), draws=DRAWS, seed=seed)
    literal = literal_arms(past, with_constant(x), policy, seed)
    counts = [np.bincount(several, minlength=3) for several in (arms, literal)]
    assert p_value_of_same_counts(*counts) > 1e-6


def test_a_spread_of_zero_is_greedy_and_ties_are_shared(seed: int) -> None:
    past = some_past(rounds=100, d=5, n_arms=3, seed=seed)
    state, offer = informed(LinTs(scale=0.0), past), offer_of(3, past.contexts[0])
    arms = chosen(state, offer, draws=20, seed=seed)
    assert law_of(state, offer)[arms].tolist() == [1.0] * 20
    nothing = informed(LinTs(scale=0.0), some_past(rounds=0, d=5, n_arms=3, seed=seed))
    np.testing.assert_allclose(law_of(nothing, offer), 1 / 3)
    assert_follows(chosen(nothing, offer, draws=2000, seed=seed), [1 / 3] * 3)


@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_equal_rewards_in_equal_contexts_leave_finite_values(reward: float, seed: int) -> None:
    past = Past(np.full((300, 6), 200.0), np.arange(300) % 3, np.full(300, reward), 4)
    state, offer = informed(LinTs(), past), offer_of(4, np.full(6, 200.0))
    chances = law_of(state, offer)
    assert chances.sum() == pytest.approx(1.0)
    assert_follows(chosen(state, offer, draws=2000, seed=seed), chances)


@pytest.mark.parametrize("wrong", [{"scale": -1.0}, {"penalty": math.nan}, {"delta": 0.0}])
def test_parameters_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(BadParameter, match=f"lin-ts needs .*{name}"):
        LinTs(**wrong)
