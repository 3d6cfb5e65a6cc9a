"""LogPHE, against the algorithm written out."""

import math
from typing import Any

import numpy as np
import pytest
from laws import assert_follows, p_value_of_same_counts
from policies.choosing import choice_counts, winner_law
from policies.in_context import Past, chosen, informed, some_past, with_constant
from policies.logistic_twin import fitted
from policies.test_lin_phe import coins_of

from giro.errors import BadParameter
from giro.offer import offer_of
from giro.policies.log_phe import LogPhe
from giro.seeds import stream

DRAWS = 50_000


def literal_law(past: Past, x: np.ndarray, policy: LogPhe) -> np.ndarray:
    """Kveton et al. (UAI 2019): the chance of each arm, over all outcomes of all pseudo rewards."""
    values, laws = [], []
    for contexts, rewards in past.each():
        pseudo = np.repeat(contexts, coins_of(policy.a, len(rewards)), axis=0)
        entries, outcomes = np.vstack([contexts, pseudo]), 2 ** len(pseudo)
        weight = np.ones(len(entries))
        scores = []
        for outcome in range(outcomes):
            coins = outcome >> np.arange(len(pseudo)) & 1
            total = np.concatenate([rewards, coins])
            scores.append(x @ fitted(entries, weight, total, policy.penalty))
        values.append(np.array(scores))
        laws.append(np.full(outcomes, 1 / outcomes))
    return winner_law(values, laws)


@pytest.mark.parametrize("policy", [LogPhe(1.0), LogPhe(1.5, penalty=0.5)])
def test_arms_are_pulled_as_often_as_in_the_literal_algorithm(policy: LogPhe, seed: int) -> None:
    past = some_past(rounds=8, d=5, n_arms=2, seed=0)
    past = past._replace(arms=np.array([0, 1, 0, 1, 1, 0, 0, 1]))
    state, context = informed(policy, past), past.contexts[3] + 0.1
    x = with_constant(context)
    arms = chosen(state, offer_of(2, context), draws=DRAWS, seed=seed)
    assert_follows(arms, literal_law(past, x, policy))
    other = np.append(1 - past.rewards[:1], past.rewards[1:])  # one reward is another
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(arms, literal_law(past._replace(rewards=other), x, policy))


def test_without_contexts_the_arm_with_the_higher_penalised_mean_is_pulled(seed: int) -> None:
    histories, a, draws = [[1, 0, 1, 1], [0, 1]], 2, 20_000
    counts = choice_counts(LogPhe(a), histories, draws=draws, seed=seed)
    rng, values = stream(seed, 3), []
    for history in histories:
        n = (a + 1) * len(history)
        ones = np.arange(n + 1.0)
        score = np.array(
            [fitted(np.ones((1, 1)), np.array([n]), np.array([k]), 1.0)[0] for k in ones]
        )
        values.append(score[sum(history) + rng.binomial(a * len(history), 0.5, draws)])
    ties = 1e-7 * rng.random((2, draws))
    wanted = np.bincount(np.argmax(values + ties, axis=0), minlength=2)
    assert p_value_of_same_counts(counts, wanted) > 1e-6


def test_choosing_leaves_the_state_as_it_was(seed: int) -> None:
    past = some_past(rounds=60, d=5, n_arms=3, seed=seed)
    state, twin = (informed(LogPhe(), past) for _ in range(2))
    chosen(state, offer_of(3, past.contexts[0]), draws=100, seed=seed)
    assert state.arms.theta.tolist() == twin.arms.theta.tolist()
    assert state.arms.curvature.tolist() == twin.arms.curvature.tolist()
    offer = offer_of(3, past.contexts[1])
    arms = [chosen(each, offer, draws=200, seed=seed).tolist() for each in (state, twin)]
    assert arms[0] == arms[1]


def test_arms_never_pulled_go_first_and_share(seed: int) -> None:
    past = some_past(rounds=30, d=4, n_arms=4, seed=seed, tried=2)
    arms = chosen(informed(LogPhe(), past), offer_of(4, past.contexts[0]), draws=2000, seed=seed)
    assert_follows(arms, [0, 0, 0.5, 0.5])


@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_equal_rewards_in_equal_contexts_are_shared(reward: float, seed: int) -> None:
    past = Past(np.full((60, 4), 200.0), np.arange(60) % 3, np.full(60, reward), 3)
    arms = chosen(informed(LogPhe(), past), offer_of(3, np.full(4, 200.0)), draws=3000, seed=seed)
    assert_follows(arms, [1 / 3] * 3)


@pytest.mark.parametrize("wrong", [{"a": 0.0}, {"a": math.inf}, {"penalty": -1.0}])
def test_parameters_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(BadParameter, match=f"log-phe needs a finite {name}"):
        LogPhe(**wrong)
