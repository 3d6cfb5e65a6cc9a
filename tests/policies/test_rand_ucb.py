"""RandUCB: one random multiple of the widths for all arms, against direct solves."""

import math

import numpy as np
import pytest
from laws import assert_follows, p_value_of_same_counts
from policies.in_context import Past, chosen, informed, some_past, with_constant

from giro.errors import BadParameter
from giro.offer import offer_of
from giro.policies.rand_ucb import RandUcb
from giro.seeds import stream

DRAWS = 40_000


def literal_arms(past: Past, x: np.ndarray, policy: RandUcb, seed: int) -> np.ndarray:
    """Return the arm with the highest mean + u width, by direct solves, many times over."""
    u, d = np.abs(stream(seed, 7).normal(size=DRAWS)), x.size
    sd, values = min(0.5, policy.scale / math.sqrt(d)), []
    for contexts, rewards in past.each():
        v = policy.penalty * np.eye(d) + contexts.T @ contexts
        mean = x @ np.linalg.solve(v, contexts.T @ rewards)
        values.append(mean + u * sd * math.sqrt(x @ np.linalg.solve(v, x)))
    return np.argmax(values, axis=0)


@pytest.mark.parametrize("policy", [RandUcb(), RandUcb(0.3), RandUcb(3.0, penalty=0.1)])
def test_arms_are_pulled_as_often_as_by_direct_solves(policy: RandUcb, seed: int) -> None:
    past = some_past(rounds=300, d=6, n_arms=4, seed=seed, tried=3)
    state, x = informed(policy, past), past.contexts[1]
    arms = chosen(state, offer_of(4, x), draws=DRAWS, seed=seed)
    literal = literal_arms(past, with_constant(x), policy, seed)
    counts = [np.bincount(several, minlength=4) for several in (arms, literal)]
    assert p_value_of_same_counts(*counts) > 1e-6
    assert_follows(arms, RandUcb.propensities(state, offer_of(4, x)))


def test_a_slightly_wrong_width_is_noticed(seed: int) -> None:
    past = some_past(rounds=300, d=6, n_arms=4, seed=0)
    state = informed(RandUcb(0.9), past)
    offers = [offer_of(4, context) for context in past.contexts[:50]]
    offer = min(offers, key=lambda each: RandUcb.propensities(state, each).max())  # not one-sided
    arms = chosen(state, offer, draws=DRAWS, seed=seed)
    wrong = RandUcb.propensities(informed(RandUcb(1.0), past), offer)
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(arms, wrong)


def test_without_width_it_is_greedy() -> None:
    past = some_past(rounds=300, d=6, n_arms=4, seed=0)
    offer = offer_of(4, past.contexts[1])
    assert sorted(RandUcb.propensities(informed(RandUcb(0.0), past), offer)) == [0, 0, 0, 1]


@pytest.mark.parametrize("name", ["scale", "penalty"])
def test_parameters_are_finite_and_not_negative(name: str) -> None:
    for value in (-1.0, math.inf, math.nan):
        with pytest.raises(BadParameter, match=f"rand-ucb needs a finite {name}"):
            RandUcb(**{name: value})
