"""Print, as JSON, how every policy does in a bandit: replayed, and against its own law.

NUMBA_DISABLE_JIT=1 python tests/contract/bandit_facts.py
"""

import json
import sys
from typing import Any

import numpy as np
from known import policies, policies_with_models
from laws import p_value_of_counts

from giro import Bandit, Policy
from giro.policy import choose
from giro.seeds import stream

ROUNDS, DRAWS = 24, 600
CONTEXT = np.array([0.4, -0.3, 1.0])


def clock() -> float:
    return 0.0


def played(policy: Policy, *, binary: bool, contexts: bool) -> Bandit:
    """Return a bandit after some rounds, with rewards under way and a set of arms of its own."""
    bandit = Bandit(
        ["a", "b", "c"], policy, seed=4, rounds=ROUNDS, votes=3, bias=False, clock=clock
    )
    rng = stream(11)
    for i in range(ROUNDS):
        context = rng.uniform(-1.0, 1.0, 3) if contexts else None
        decision = bandit.decide(context, arms=["a", "c"] if i % 6 == 5 else None)
        value = (0.2 + 0.7 * rng.random()) * (0.4 if decision.arm == "a" else 1.0)
        if i % 4 != 3:
            bandit.reward(decision.id, float(rng.random() < value) if binary else value)
    return bandit


def next_arms(bandit: Bandit, *, contexts: bool) -> list[Any]:
    several = [CONTEXT * k for k in range(8)] if contexts else 8
    return [[d.arm, d.propensities] for d in bandit.decide_many(several)]


def facts_of(policy: Policy, *, binary: bool, contexts: bool) -> dict[str, Any]:
    bandit = played(policy, binary=binary, contexts=contexts)
    n_features = 3 if contexts else 0
    known = policy.has_propensities(n_features=n_features, binary=binary)
    found = {"known": known, "law": None, "p_value": None}
    if known:
        context = CONTEXT if contexts else np.empty(0)
        state = bandit._core.learners.ready(bandit._core.whole).state
        law = np.asarray(policy.propensities(state, context))
        rng, counts = stream(5), np.zeros(3, np.int64)
        for _ in range(DRAWS):
            counts[choose(state, context, rng)] += 1
        found |= {"law": law.tolist(), "p_value": p_value_of_counts(counts, law)}
        bandit = played(policy, binary=binary, contexts=contexts)
    again = Bandit.replay(bandit.events(), policy, clock=clock)
    here, there = (next_arms(each, contexts=contexts) for each in (bandit, again))
    return found | {"here": here, "there": there}


def facts_or_failure(policy: Policy, **how: bool) -> dict[str, Any]:
    """Return the facts, or what went wrong: one bad policy must not hide the others."""
    try:
        return facts_of(policy, **how)
    except Exception as error:
        return {"error": repr(error)}


if __name__ == "__main__":
    facts = {}
    for policy in [*policies(), *policies_with_models()]:
        for binary in (True, False):
            for contexts in (False, True):
                case = f"{'binary' if binary else 'fractional'}{' contexts' * contexts}"
                found = facts_or_failure(policy, binary=binary, contexts=contexts)
                facts[f"{policy} {case}"] = found
    json.dump(facts, sys.stdout)
