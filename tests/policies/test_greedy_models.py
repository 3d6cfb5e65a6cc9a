"""ε-greedy with a reward model, and ensemble sampling with contexts."""

import numpy as np
import pytest
from laws import assert_follows, assert_follows_cdf
from live_kernels import counted, taught
from scipy import stats

from giro import Policy, UnknownName
from giro.models import Linear
from giro.offer import NO_CONTEXT, Case, Shape, offer_of
from giro.policies.ensemble import Ensemble
from giro.policies.epsilon_greedy import EpsilonGreedy
from giro.policy import start
from giro.seeds import stream

CONTEXT = np.array([0.4, -1.2, 1.0])  # with the constant that policies append
N_ARMS = 3
OFFER = offer_of(N_ARMS, CONTEXT[:2])


def observations(seed: int, rows: int) -> list[tuple[np.ndarray, int, float]]:
    rng = stream(seed, 5)
    return [
        (np.append(rng.normal(size=2), 1.0), t % N_ARMS, float(rng.random() < 0.5))
        for t in range(rows)
    ]


def state_after(policy: Policy, rows: int, seed: int):
    rng = stream(seed, 1)
    state = start(policy, Shape(N_ARMS, 2, 0, rows + 1, rows + 1), rng)
    for context, arm, reward in observations(seed, rows):
        taught(state, Case(context[:2], NO_CONTEXT), arm, reward, rng)
    return state


def ridge_values(seed: int, rows: int, penalty: float = 1.0) -> np.ndarray:
    values = []
    for arm in range(N_ARMS):
        mine = [(x, y) for x, i, y in observations(seed, rows) if i == arm]
        contexts = np.array([x for x, _ in mine])
        gram = contexts.T @ contexts + penalty * np.eye(3)
        values.append(CONTEXT @ np.linalg.solve(gram, contexts.T @ np.array([y for _, y in mine])))
    return np.array(values)


def test_pulls_the_arm_whose_ridge_regression_expects_most_and_any_with_epsilon(seed: int) -> None:
    state = state_after(EpsilonGreedy(epsilon=0.3, model=Linear()), 60, seed)
    law = np.full(N_ARMS, 0.1)
    law[ridge_values(seed, 60).argmax()] += 0.7
    counts = counted(state, OFFER, 20_000, stream(seed, 2))
    assert_follows(np.repeat(np.arange(N_ARMS), counts), law)


def test_epsilon_falls_with_the_rounds(seed: int) -> None:
    state = state_after(EpsilonGreedy(b=6.0, model=Linear()), 59, seed)  # round 60: ε = 1/10
    law = np.full(N_ARMS, 0.1 / N_ARMS)
    law[ridge_values(seed, 59).argmax()] += 0.9
    counts = counted(state, OFFER, 20_000, stream(seed, 2))
    assert_follows(np.repeat(np.arange(N_ARMS), counts), law)


def test_a_model_is_part_of_the_text() -> None:
    policy = Policy.parse("epsilon-greedy:b=3,model=linear")
    assert policy.text == "epsilon-greedy:b=3,model=linear"
    with pytest.raises(UnknownName, match="no model is called 'quadratic'"):
        Policy.parse("epsilon-greedy:model=quadratic")


def test_with_contexts_a_model_of_the_ensemble_is_a_draw_of_the_gaussian_posterior(
    seed: int,
) -> None:
    prior_sd, noise_sd, rows = 0.7, 0.4, 12
    policy = Ensemble(4_000, prior_sd=prior_sd, noise_sd=noise_sd)
    state = state_after(policy, rows, seed)
    for arm in range(N_ARMS):
        mine = [(x, y) for x, i, y in observations(seed, rows) if i == arm]
        contexts, rewards = np.array([x for x, _ in mine]), np.array([y for _, y in mine])
        precision = contexts.T @ contexts / noise_sd**2 + np.eye(3) / prior_sd**2
        theta = np.linalg.solve(precision, contexts.T @ (rewards - 0.5) / noise_sd**2)
        sd = np.sqrt(CONTEXT @ np.linalg.solve(precision, CONTEXT))
        gram = contexts.T @ contexts + (noise_sd / prior_sd) ** 2 * np.eye(3)
        values = 0.5 + state.moment[arm] @ np.linalg.solve(gram, CONTEXT)
        assert_follows_cdf(values, stats.norm(0.5 + CONTEXT @ theta, sd).cdf)


def test_with_contexts_one_model_decides_for_all_arms(seed: int) -> None:
    state = state_after(Ensemble(5), 12, seed)
    values = np.empty((5, N_ARMS))
    for arm in range(N_ARMS):
        factor = np.triu(state.factor[arm])
        values[:, arm] = state.moment[arm] @ np.linalg.solve(factor.T @ factor, CONTEXT)
    favourites = np.bincount(values.argmax(axis=1), minlength=N_ARMS)
    counts = counted(state, OFFER, 30_000, stream(seed, 2))
    assert_follows(np.repeat(np.arange(N_ARMS), counts), favourites / 5)
