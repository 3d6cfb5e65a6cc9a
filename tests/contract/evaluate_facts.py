"""Print, as JSON, what every policy is worth by the same events in logs of three kinds.

Also among arms that come and go, for policies that know them by features; hashed where they can be.

NUMBA_DISABLE_JIT=1 python tests/contract/evaluate_facts.py
"""

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
from bandit.clock import counted
from evaluation.open_logs import BY_NAME, IN_COLUMNS, Made, made
from known import policies_in_bandits

from giro import Bandit, evaluate, read_log
from giro.evaluation.evaluate import Estimator
from giro.seeds import stream

EVENTS = 18
ESTIMATORS: tuple[Estimator, ...] = ("ips", "snips", "dr", "replay", "rejection-replay")
LOGGED = {True: BY_NAME, False: IN_COLUMNS}  # by whether features are hashed
ANY_FORMAT = ("thompson", "lin-ucb", "giro-ensemble", "default")  # the others read tables
ARMS = ["1", "2", "3"]  # as Vowpal Wabbit names them


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
        read = read_log(lines, hashed=made.log.hashed)
        logs = {"table": made.log, "bandit": made.bandit.events(), "vw": read}
        return {name: estimates(log, policy) for name, log in logs.items()}


def facts_by_features(policy: Any) -> dict[str, Any]:
    """Return these; nothing if the policy does not take features of arms."""
    played = policy.resolved(contextual=True)
    if not played.uses_arm_features:
        return {}
    return facts_with_features(policy, made(2, EVENTS, policy=LOGGED[played.hashes_features]))


def facts_or_failure(facts: Callable[..., dict[str, Any]], *given: Any) -> dict[str, Any]:
    """Return the facts, or what went wrong: one bad policy must not hide the others."""
    try:
        return facts(*given)
    except Exception as error:
        return {"error": repr(error)}


if __name__ == "__main__":
    tables = {word: events_of(contexts=word == "contexts") for word in ("contexts", "alone")}
    facts = {
        f"{policy} {word}": facts_or_failure(facts_of, policy, events)
        for policy in policies_in_bandits()
        for word, events in tables.items()
    }
    facts |= {
        f"{policy} features": facts_or_failure(facts_by_features, policy)
        for policy in policies_in_bandits()
    }
    json.dump(facts, sys.stdout)
