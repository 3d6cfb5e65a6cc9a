"""LinPost: one normal and one gamma draw an arm, against drawing all its parameters."""

import math
from typing import Any

import numpy as np
import pytest
from laws import p_value_of_same_counts
from live_kernels import counted
from policies.in_context import Past, chosen, informed, some_past, with_constant
from policies.posterior_twin import literal_draws, of_shared_arms

from giro.errors import BadParameter
from giro.offer import offer_of
from giro.policies.lin_post import LinPost
from giro.seeds import stream

DRAWS = 40_000


def literal_arms(past: Past, x: np.ndarray, policy: LinPost, seed: int) -> np.ndarray:
    """Draw every arm's parameters many times over, and return the best arm of each time."""
    rng = stream(seed, 7)
    values = [literal_draws(rows, rewards, policy, DRAWS, rng) @ x for rows, rewards in past.each()]
    return np.argmax(values, axis=0)


def p_value(policy: LinPost, twin: LinPost, seed: int) -> float:
    past = some_past(rounds=300, d=6, n_arms=4, seed=seed)
    x = past.contexts[1]
    arms = chosen(informed(policy, past), offer_of(4, x), draws=DRAWS, seed=seed)
    literal = literal_arms(past, with_constant(x), twin, seed)
    return p_value_of_same_counts(*(np.bincount(each, minlength=4) for each in (arms, literal)))


@pytest.mark.parametrize("policy", [LinPost(), LinPost(a=2.0, b=0.1), LinPost(penalty=5.0)])
def test_arms_are_pulled_as_often_as_if_all_parameters_were_drawn(
    policy: LinPost, seed: int
) -> None:
    assert p_value(policy, policy, seed) > 1e-6


def test_a_slightly_wrong_prior_is_noticed() -> None:
    assert p_value(LinPost(b=6.0), LinPost(b=12.0), 0) < 1e-6


def test_one_draw_of_parameters_is_shared_by_arms_with_features(seed: int) -> None:
    policy = LinPost(b=0.5)
    state, offer, rows, past = of_shared_arms(policy, seed)
    literal = literal_draws(*past, policy, DRAWS, stream(seed, 7)) @ rows.T
    counts = counted(state, offer, DRAWS, stream(seed, 6))
    twins = np.bincount(literal.argmax(axis=1), minlength=offer.arms.size)
    assert p_value_of_same_counts(counts, twins) > 1e-6


@pytest.mark.parametrize(
    "wrong", [{"a": 0.0}, {"b": -1.0}, {"penalty": math.nan}, {"initial": 0}, {"initial": 1.5}]
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(BadParameter, match=f"lin-post needs .*{name}"):
        LinPost(**wrong)
