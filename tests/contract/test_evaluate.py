"""What `giro.evaluate` promises of every policy: an answer, and the same from logs of any kind."""

from typing import Any

import numpy as np
import pytest
from contract.evaluate_facts import ANY_FORMAT, ESTIMATORS, events_of, facts_of
from contract.without_compiling import printed_by
from known import policies_in_bandits
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsRegressor

from giro import Policy, evaluate
from giro.evaluation import Log
from giro.policies.contextual_giro import ContextualGiro
from giro.policies.epsilon_greedy import EpsilonGreedy
from giro.policies.giro_ensemble import GiroEnsemble
from giro.seeds import stream


@pytest.fixture(scope="session")
def facts() -> dict[str, dict[str, Any]]:
    """What every policy is estimated to be worth, without compiling anything."""
    return printed_by("evaluate_facts.py")


def assert_same(found: dict[str, Any]) -> None:
    """Fail unless all estimators answered, and the same for all logs."""
    assert "error" not in found, found
    for estimator in ESTIMATORS:
        value, se = found["table"][estimator]
        assert np.isfinite([value, se]).all()
        for other in found.keys() - {"table"}:
            assert found[other][estimator] == pytest.approx([value, se], abs=1e-12)


@pytest.mark.parametrize("policy", policies_in_bandits(), ids=str)
@pytest.mark.parametrize("log", ["contexts", "alone"])
def test_the_same_events_have_the_same_estimates_in_any_format(
    policy: Policy, log: str, facts: dict[str, Any]
) -> None:
    found = facts[f"{policy} {log}"]
    assert_same(found)
    assert set(found) == ({"table", "bandit", "vw"} if policy.name in ANY_FORMAT else {"table"})


@pytest.mark.parametrize("policy", policies_in_bandits(), ids=str)
def test_the_same_arms_with_features_have_the_same_estimates_in_any_format(
    policy: Policy, facts: dict[str, Any]
) -> None:
    if policy.resolved(contextual=True).uses_arm_features:
        assert_same(facts[f"{policy} features"])
    else:
        assert facts[f"{policy} features"] == {}


IN_PYTHON = {
    "giro-ensemble": GiroEnsemble(model=LogisticRegression(), replicas=3),
    "contextual-giro": ContextualGiro(model=LogisticRegression()),
    "epsilon-greedy": EpsilonGreedy(epsilon=0.1, model=KNeighborsRegressor(1)),
    "boosting": Policy.parse("giro-ensemble:model=boosting,replicas=3"),
}


@pytest.mark.parametrize("which", IN_PYTHON)
def test_policies_with_any_model_are_evaluated_where_others_are_compiled(which: str) -> None:
    assert_same(facts_of(IN_PYTHON[which], events_of(binary=True)))


# -- the truth -------------------------------------------------------------------------------------

MEANS = np.array([0.8, 0.2, 0.5])  # but for the context, which has mean 0 and matters little
BEST, BLIND = 0.8, 0.5


def log_with_levels(seed: int, events: int = 1_500) -> Log:
    """Return a log of arms that differ by a constant, which no feature tells."""
    rng = stream(seed, 6)
    contexts, arm = rng.uniform(-1.0, 1.0, (events, 2)), rng.integers(0, 3, events)
    means = MEANS[arm] + 0.1 * contexts[:, 0] * np.array([0.0, 1.0, -1.0])[arm]
    reward = (rng.random(events) < means).astype(float)
    third = np.full(events, 1 / 3)
    return Log(arm, ("a", "b", "c"), reward, third, contexts, ("x", "y"))


# how far below the best arm a policy stays in 1,500 events, for it explores
EXPLORES = {
    "lin-ucb:scale=0.1": 0.01,
    "lin-ts:scale=0.1": 0.01,
    "ensemble": 0.02,
    "giro-ensemble:a=0.1,replicas=20": 0.03,
    "epsilon-greedy:epsilon=0,model=linear": 0.01,
    "epsilon-greedy:epsilon=0.3,model=linear": 0.3 * (BEST - BLIND),
}


@pytest.mark.parametrize("policy", EXPLORES)
@pytest.mark.parametrize("estimator", ["ips", "snips", "dr"])
def test_policies_that_need_an_intercept_are_worth_what_they_are(
    policy: str, estimator: str, seed: int
) -> None:
    row = evaluate(log_with_levels(seed), policy, estimators=[estimator])[estimator]
    worth = BEST - EXPLORES[policy]
    assert abs(row.value - worth) < 4 * row.se + 0.02
    assert row.se < 0.05
    assert row.value > BLIND + 0.1


def test_a_policy_replayed_on_a_uniform_log_is_worth_what_it_is(seed: int) -> None:
    row = evaluate(log_with_levels(seed), "lin-ucb:scale=0.5", estimators=["replay"])["replay"]
    assert abs(row.value - BEST) < 4 * row.se + 0.03
