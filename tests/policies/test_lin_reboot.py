"""LinReBoot: one normal draw an arm, against weights of all its residuals."""

import math
from typing import Any

import numpy as np
import pytest
from laws import assert_follows, p_value_of_same_counts
from live_kernels import counted, law_of, taught
from policies.in_context import Past, chosen, informed, some_past, with_constant

from giro.errors import BadParameter
from giro.offer import Case, Offer, Shape, offer_of
from giro.policies.lin_reboot import LinReboot
from giro.policy import start
from giro.seeds import stream

DRAWS = 20_000


def literal_values(
    prediction: float, rewards: np.ndarray, w: float, rng: np.random.Generator
) -> np.ndarray:
    """Wu et al. (2022), Algorithm 1, many times over."""
    residuals = rewards - prediction
    if np.ptp(rewards) == 0.0:
        residuals = np.full(rewards.size, 0.5)
    weights = rng.normal(0.0, w, size=(DRAWS, rewards.size))
    return prediction + (weights * residuals).mean(axis=1)


def fitted(rows: np.ndarray, rewards: np.ndarray, penalty: float) -> np.ndarray:
    gram = penalty * np.eye(rows.shape[1]) + rows.T @ rows
    return np.linalg.solve(gram, rows.T @ rewards)


def literal_arms(past: Past, x: np.ndarray, policy: LinReboot, seed: int) -> np.ndarray:
    rng = stream(seed, 7)
    predictions = [x @ fitted(rows, rewards, policy.penalty) for rows, rewards in past.each()]
    values = [
        literal_values(prediction, rewards, policy.w, rng)
        for prediction, (_, rewards) in zip(predictions, past.each(), strict=True)
    ]
    return np.argmax(values, axis=0)


def p_value(policy: LinReboot, twin: LinReboot, seed: int) -> float:
    past = some_past(rounds=200, d=5, n_arms=4, seed=seed)
    x = past.contexts[1]
    arms = chosen(informed(policy, past), offer_of(4, x), draws=DRAWS, seed=seed)
    literal = literal_arms(past, with_constant(x), twin, seed)
    return p_value_of_same_counts(*(np.bincount(each, minlength=4) for each in (arms, literal)))


@pytest.mark.parametrize("policy", [LinReboot(), LinReboot(4.0), LinReboot(2.0, penalty=10.0)])
def test_arms_are_pulled_as_often_as_if_residuals_were_weighted(
    policy: LinReboot, seed: int
) -> None:
    assert p_value(policy, policy, seed) > 1e-6


def test_a_slightly_wrong_weight_is_noticed() -> None:
    assert p_value(LinReboot(4.0), LinReboot(3.0), 0) < 1e-6


def test_draws_follow_the_exact_propensities(seed: int) -> None:
    past = some_past(rounds=200, d=5, n_arms=4, seed=seed)
    state, offer = informed(LinReboot(4.0), past), offer_of(4, past.contexts[1])
    arms = chosen(state, offer, draws=DRAWS, seed=seed)
    assert_follows(arms, law_of(state, offer))


@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_an_arm_with_equal_rewards_is_drawn_with_the_largest_deviation(
    reward: float, seed: int
) -> None:
    past = Past(np.zeros((24, 1)), np.arange(24) % 2, np.full(24, reward), 2)
    past.rewards[1::4] = 1.0 - reward
    policy, x = LinReboot(1.0), np.zeros(1)
    arms = chosen(informed(policy, past), offer_of(2, x), draws=DRAWS, seed=seed)
    literal = literal_arms(past, with_constant(x), policy, seed)
    counts = [np.bincount(each, minlength=2) for each in (arms, literal)]
    assert p_value_of_same_counts(*counts) > 1e-6


def test_arms_with_features_share_parameters_and_keep_their_own_residuals(seed: int) -> None:
    rng, policy, nothing = stream(seed, 5), LinReboot(2.0), np.empty(0)
    state = start(policy, Shape(3, 0, 2, 60, 60), rng)
    features, arms = rng.normal(size=(40, 2)), np.arange(40) % 3
    rewards = (rng.random(40) < 0.2 + 0.2 * arms).astype(float)
    for row, arm, reward in zip(features, arms, rewards, strict=True):
        taught(state, Case(nothing, row), int(arm), float(reward), rng)
    offered = rng.normal(size=(3, 2))
    predictions = with_constant(offered) @ fitted(with_constant(features), rewards, policy.penalty)
    values = [
        literal_values(predictions[arm], rewards[arms == arm], policy.w, rng) for arm in range(3)
    ]
    offer = Offer(np.arange(3), nothing, offered)
    counts = counted(state, offer, DRAWS, stream(seed, 6))
    twins = np.bincount(np.argmax(values, axis=0), minlength=3)
    assert p_value_of_same_counts(counts, twins) > 1e-6


def test_an_arm_that_was_never_pulled_goes_first(seed: int) -> None:
    past = some_past(rounds=50, d=4, n_arms=4, seed=seed, tried=2)
    state, offer = informed(LinReboot(), past), offer_of(4, past.contexts[0])
    assert_follows(chosen(state, offer, draws=2_000, seed=seed), [0.0, 0.0, 0.5, 0.5])
    assert law_of(state, offer).tolist() == [0.0, 0.0, 0.5, 0.5]


@pytest.mark.parametrize("wrong", [{"w": 0.0}, {"w": math.inf}, {"penalty": -1.0}])
def test_parameters_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(BadParameter, match=f"lin-reboot needs .*{name}"):
        LinReboot(**wrong)
