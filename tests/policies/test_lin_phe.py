"""LinPHE, against the algorithm written out."""

import math
from typing import Any

import numpy as np
import pytest
from laws import assert_follows, p_value_of_same_counts
from policies.choosing import choice_counts
from policies.in_context import Past, chosen, informed, some_past, with_constant

from giro.errors import BadParameter
from giro.offer import offer_of
from giro.policies.lin_phe import LinPhe
from giro.seeds import stream

DRAWS = 20_000


def coins_of(a: float, pulls: int) -> np.ndarray:
    return np.diff([math.ceil(round(a * s, 9)) for s in range(pulls + 1)])


def literal_arms(past: Past, x: np.ndarray, policy: LinPhe, seed: int) -> np.ndarray:
    """Kveton et al. (UAI 2019), Algorithm 1: every pseudo reward is an entry of the history."""
    rng, a = stream(seed, 7), policy.a
    values = []
    for contexts, rewards in past.each():
        n = coins_of(a, len(rewards))
        pseudo = np.repeat(contexts, n, axis=0)
        g = contexts.T @ contexts + pseudo.T @ pseudo + policy.penalty * (a + 1) * np.eye(x.size)
        z = rng.integers(0, 2, (DRAWS, len(pseudo)))
        moments = contexts.T @ rewards + z @ pseudo
        values.append(np.linalg.solve(g, moments.T).T @ x)
    return np.argmax(values, axis=0)


@pytest.mark.parametrize("policy", [LinPhe(), LinPhe(1.0, penalty=0.1), LinPhe(1 / 3), LinPhe(9.5)])
def test_arms_are_pulled_as_often_as_in_the_literal_algorithm(policy: LinPhe, seed: int) -> None:
    past = some_past(rounds=60, d=5, n_arms=3, seed=0)
    state, context = informed(policy, past), past.contexts[3] + 0.1
    x = with_constant(context)
    counts = [
        np.bincount(arms, minlength=3)
        for arms in (
            chosen(state, offer_of(3, context), draws=DRAWS, seed=seed),
            literal_arms(past, x, policy, seed),
            literal_arms(past, x, LinPhe(3 * policy.a, penalty=policy.penalty), seed),
        )
    ]
    assert p_value_of_same_counts(counts[0], counts[1]) > 1e-6
    assert p_value_of_same_counts(counts[0], counts[2]) < 1e-6


def test_without_contexts_it_is_phe_with_a_penalty(seed: int) -> None:
    histories, a = [[1, 0, 1, 1], [0, 1]], 2
    counts = choice_counts(LinPhe(a), histories, draws=DRAWS, seed=seed)
    rng = stream(seed, 3)
    values = [
        (sum(history) + rng.binomial(a * len(history), 0.5, DRAWS)) / ((a + 1) * (len(history) + 1))
        for history in histories
    ]
    ties = 1e-9 * rng.random((2, DRAWS))
    wanted = np.bincount(np.argmax(values + ties, axis=0), minlength=2)
    assert p_value_of_same_counts(counts, wanted) > 1e-6


def test_arms_never_pulled_go_first_and_share(seed: int) -> None:
    past = some_past(rounds=30, d=4, n_arms=4, seed=seed, tried=2)
    arms = chosen(informed(LinPhe(), past), offer_of(4, past.contexts[0]), draws=2000, seed=seed)
    assert_follows(arms, [0, 0, 0.5, 0.5])


@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_equal_rewards_in_equal_contexts_are_shared(reward: float, seed: int) -> None:
    past = Past(np.full((300, 6), 200.0), np.arange(300) % 3, np.full(300, reward), 3)
    arms = chosen(informed(LinPhe(), past), offer_of(3, np.full(6, 200.0)), draws=DRAWS, seed=seed)
    assert_follows(arms, [1 / 3] * 3)


@pytest.mark.parametrize("wrong", [{"a": 0.0}, {"a": math.nan}, {"penalty": 0.0}])
def test_parameters_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(BadParameter, match=f"lin-phe needs a finite {name}"):
        LinPhe(**wrong)
