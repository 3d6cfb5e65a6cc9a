"""Exact probabilities with contexts: ε-greedy with a model, and ensembles by counting models."""

from typing import Any

import numpy as np
import pytest
from bandit.clock import Clock, bandit_of, chances_of, counted
from laws import assert_follows
from sklearn.neighbors import KNeighborsRegressor

from giro import Bandit, Policy
from giro.models import Linear
from giro.offer import NO_CONTEXT, offer_of
from giro.policies.epsilon_greedy import EpsilonGreedy
from giro.policy import Case, Shape, choose, learn, start
from giro.seeds import stream

CONTEXT = np.array([0.4, -1.2])
N_ARMS, ROWS = 3, 60
OFFER = offer_of(N_ARMS, CONTEXT)
SHAPE = Shape(N_ARMS, CONTEXT.size, 0, ROWS, ROWS)


def observations(seed: int) -> list[tuple[np.ndarray, int, float]]:
    """Return context, arm and reward of some rounds."""
    rng = stream(seed, 5)
    return [(rng.normal(size=2), t % N_ARMS, float(rng.random() < 0.5)) for t in range(ROWS)]


def informed(policy: Policy, seed: int) -> Any:
    """Return the state that has learned these."""
    rng = stream(seed, 1)
    state = start(policy, SHAPE, rng)
    for context, arm, reward in observations(seed):
        learn(state, Case(context, NO_CONTEXT), arm, reward, rng)
    return state


def expected_by(fit: Any, seed: int) -> np.ndarray:
    """Return what a function of an arm's contexts and rewards expects in CONTEXT, by arm."""
    values = []
    for arm in range(N_ARMS):
        mine = [(context, reward) for context, i, reward in observations(seed) if i == arm]
        values.append(fit(np.array([x for x, _ in mine]), np.array([y for _, y in mine])))
    return np.array(values)


def with_one(contexts: np.ndarray) -> np.ndarray:
    """Return contexts with the constant that belongs to linear models."""
    return np.column_stack([contexts, np.ones(len(contexts))])


def ridge(contexts: np.ndarray, rewards: np.ndarray) -> float:
    rows = with_one(contexts)
    gram = rows.T @ rows + np.eye(3)
    return float(with_one(CONTEXT[None])[0] @ np.linalg.solve(gram, rows.T @ rewards))


def neighbours(contexts: np.ndarray, rewards: np.ndarray) -> float:
    return float(KNeighborsRegressor(5).fit(contexts, rewards).predict(CONTEXT[None])[0])


MODELS: dict[str, tuple[Any, Any, int]] = {
    "linear": ("linear", ridge, 3_000),
    "five neighbours": (KNeighborsRegressor(5), neighbours, 300),  # fifths: there can be ties
}


def law_of(policy: Policy, state: Any) -> np.ndarray:
    """Return the probabilities of all arms, which the policy knows."""
    propensities = policy.functions().propensities
    assert propensities is not None
    return np.asarray(propensities(state, OFFER))


@pytest.mark.parametrize("which", MODELS)
def test_epsilon_greedy_takes_the_arm_whose_model_expects_most(which: str, seed: int) -> None:
    model, fit, draws = MODELS[which]
    policy = EpsilonGreedy(epsilon=0.3, model=model)
    state, values = informed(policy, seed), expected_by(fit, seed)
    best = np.isclose(values, values.max(), atol=1e-9)
    law = law_of(policy, state)
    assert law == pytest.approx(0.1 + 0.7 * best / best.sum(), abs=1e-12)
    rng = stream(seed, 2)
    assert_follows([choose(state, OFFER, rng) for _ in range(draws)], law)


def test_untried_arms_share_what_is_not_explored() -> None:
    policy = EpsilonGreedy(epsilon=0.3, model=Linear())
    state = start(policy, SHAPE, stream(0))
    learn(state, Case(CONTEXT, NO_CONTEXT), 1, 1.0, stream(1))
    assert law_of(policy, state) == pytest.approx([0.45, 0.1, 0.45])


def test_epsilon_falls_in_the_law_of_models_too(seed: int) -> None:
    policy = EpsilonGreedy(b=6.1, model=Linear())
    law = law_of(policy, informed(policy, seed))
    assert sorted(law)[:2] == pytest.approx([0.1 / 3] * 2)  # in round 61


def test_models_that_are_trained_further_to_choose_are_voted_on() -> None:
    for model, known in {"linear-sgd": False, "network": False, "logistic": True}.items():
        policy = Policy.parse(f"epsilon-greedy:epsilon=0.1,model={model}")
        assert policy.has_propensities(binary=True, shared=False) is known, model


def test_the_law_of_an_ensemble_counts_its_models(seed: int) -> None:
    policy = Policy.parse("ensemble:models=50")
    state = informed(policy, seed)
    values = np.empty((50, N_ARMS))
    for arm in range(N_ARMS):
        rows = with_one(np.array([context for context, i, _ in observations(seed) if i == arm]))
        gram = rows.T @ rows + np.eye(3)  # the prior is as wide as the noise
        values[:, arm] = np.linalg.solve(gram, state.moment[arm].T).T @ with_one(CONTEXT[None])[0]
    shares = np.bincount(values.argmax(axis=1), minlength=N_ARMS) / 50
    law = law_of(policy, state)
    assert law == pytest.approx(shares, abs=1e-12)
    rng = stream(seed, 2)
    assert_follows([choose(state, OFFER, rng) for _ in range(3_000)], law)


# -- in a bandit -----------------------------------------------------------------------------------

IN_A_BANDIT: dict[str, Any] = {
    "ensemble": "ensemble",
    "epsilon-greedy": EpsilonGreedy(epsilon=0.2, model=KNeighborsRegressor(1)),
}


def taught(policy: Any, seed: int) -> Bandit:
    bandit = bandit_of(policy, "abc", seed=seed)
    for context, arm, reward in observations(seed):
        bandit.reward(bandit.decide(context, arms=["abc"[arm]]).id, reward)
    return bandit


@pytest.mark.parametrize("which", IN_A_BANDIT)
def test_asking_for_probabilities_changes_nothing(which: str, seed: int) -> None:
    policy = IN_A_BANDIT[which]
    asked, silent = taught(policy, seed), taught(policy, seed)
    for context in (CONTEXT, -CONTEXT):
        law = chances_of(asked.decide(context))
        silent.decide(context)
        assert sum(law.values()) == pytest.approx(1.0)
    again = Bandit.replay(asked.events(), policy, clock=Clock())
    several = np.vstack([CONTEXT, -CONTEXT] * 25)
    for bandit in (asked, silent, again):
        bandit._new_id = counted("next ")
    arms = [[d.arm for d in b.decide_many(several)] for b in (asked, silent, again)]
    assert arms[0] == arms[1] == arms[2]
