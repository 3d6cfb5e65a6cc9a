"""What `giro.evaluate` promises of every policy: an answer, and the same from logs of any kind.

Also among arms that come and go, for policies that know them by features; hashed where they can be.
"""

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from bandit.clock import counted
from evaluation.open_logs import BY_NAME, IN_COLUMNS, Made, made
from known import each, policies_in_bandits
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsRegressor

from giro import Bandit, Policy, evaluate, read_log
from giro.evaluation import Log
from giro.policies.contextual_giro import ContextualGiro
from giro.policies.epsilon_greedy import EpsilonGreedy
from giro.policies.giro_ensemble import GiroEnsemble
from giro.seeds import stream

EVENTS = 18
ESTIMATORS = ("ips", "snips", "dr", "replay", "rejection-replay")
LOGGED = {True: BY_NAME, False: IN_COLUMNS}  # by whether features are hashed
ANY_FORMAT = ("thompson", "lin-ucb", "giro-ensemble", "default")  # the others read tables
ARMS = ["1", "2", "3"]  # as Vowpal Wabbit names them


@functools.cache
def events_of(*, events: int = EVENTS, contexts: bool = True, binary: bool = False) -> pl.DataFrame:
    """Return the log of a bandit that takes any arm; arm 3 is best, and worse where x is high."""
    bandit, rng = Bandit(ARMS, "uniform", seed=2, ids=counted()), stream(8)
    for _ in range(events):
        x = rng.uniform(-1.0, 1.0, 2)
        decision = bandit.decide(x if contexts else None)
        value = 0.2 * int(decision.arm) + 0.1 + 0.2 * x[0] * (decision.arm == "3")
        bandit.reward(decision.id, float(rng.random() < value) if binary else value)
    return bandit.events()


def table_of(events: pl.DataFrame) -> dict[str, list[Any]]:
    """Return the same as a table."""
    decisions, rewards = events.filter(kind="decision"), events.filter(kind="reward")
    contexts = [row or [] for row in decisions["context"].to_list()]
    return {
        "arm": decisions["arm"].to_list(),
        "reward": rewards["reward"].to_list(),
        "probability": decisions["propensity"].to_list(),
        **{f"context_{i}": [row[i] for row in contexts] for i in range(len(contexts[0]))},
    }


def lines_of(events: pl.DataFrame) -> str:
    """Return the same as lines of Vowpal Wabbit's decision service."""
    table = table_of(events)
    features = [name for name in table if name.startswith("context_")]
    lines = []
    for event, arm in enumerate(table["arm"]):
        action, chance = int(arm), table["probability"][event]
        shared = {"user": {name: table[name][event] for name in features}} if features else {}
        line = {
            "_label_cost": -table["reward"][event],
            "_label_probability": chance,
            "_label_Action": action,
            "_labelIndex": action - 1,
            "a": [action, *(other for other in (1, 2, 3) if other != action)],
            "p": [chance] * 3,
            "c": shared | {"_multi": [{}, {}, {}]},
        }
        lines.append(json.dumps(line))
    return "\n".join(lines) + "\n"


def estimates(log: Any, policy: Any) -> dict[str, list[float]]:
    """Return value and standard error by every estimator."""
    found = evaluate(log, policy, estimators=ESTIMATORS, folds=5, votes=4, seed=1)
    return {row.estimator: [row.value, row.se] for row in found.rows}


def facts_of(policy: Any, events: pl.DataFrame) -> dict[str, Any]:
    """Return the estimates by the three logs; a policy cannot tell where its log comes from."""
    logs: dict[str, Any] = {"table": table_of(events)}
    with tempfile.TemporaryDirectory() as folder:
        if policy.name in ANY_FORMAT:
            lines = Path(folder) / "log.dsjson"
            lines.write_text(lines_of(events), "utf-8")
            logs |= {"bandit": events, "vw": lines}
        return {name: estimates(log, policy) for name, log in logs.items()}


def facts_with_features(policy: Any, made: Made) -> dict[str, Any]:
    """Return the estimates among arms that come and go, with arrays in place of a table."""
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "log.dsjson"
        lines.write_text(made.lines, "utf-8")
        read = read_log(lines, hashed=made.log.schema.is_sparse)
        logs = {"table": made.log, "bandit": made.bandit.events(), "vw": read}
        return {name: estimates(log, policy) for name, log in logs.items()}


def assert_same(found: dict[str, Any]) -> None:
    """Fail unless all estimators answered, and the same for all logs."""
    for estimator in ESTIMATORS:
        value, se = found["table"][estimator]
        assert np.isfinite([value, se]).all()
        for other in found.keys() - {"table"}:
            assert found[other][estimator] == pytest.approx([value, se], abs=1e-12)


@each(policies_in_bandits())
@pytest.mark.parametrize("log", ["contexts", "alone"])
def test_the_same_events_have_the_same_estimates_in_any_format(policy: Policy, log: str) -> None:
    found = facts_of(policy, events_of(contexts=log == "contexts"))
    assert_same(found)
    assert set(found) == ({"table", "bandit", "vw"} if policy.name in ANY_FORMAT else {"table"})


@each(p for p in policies_in_bandits() if p.resolved(contextual=True).uses_arm_features)
def test_the_same_arms_with_features_have_the_same_estimates_in_any_format(policy: Policy) -> None:
    hashed = policy.resolved(contextual=True).hashes_features
    assert_same(facts_with_features(policy, made(2, EVENTS, policy=LOGGED[hashed])))


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
    return Log(arm, ("a", "b", "c"), reward, third, contexts)


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
