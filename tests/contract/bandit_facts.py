"""Print, as JSON, what every policy decides in a bandit, and in one that is replayed.

NUMBA_DISABLE_JIT=1 python tests/contract/bandit_facts.py
NUMBA_DISABLE_JIT=1 python tests/contract/bandit_facts.py laws  # and what it says of its choices
"""

import json
import sys
from typing import Any

import numpy as np
from bandit.clock import counted
from known import policies_in_bandits
from laws import p_value_of_counts

from giro import Bandit, Policy
from giro.policies import Giro
from giro.policy import choose
from giro.seeds import stream

ROUNDS, DRAWS = 16, 100
CONTEXT = np.array([0.4, -0.3, 1.0])
FEATURES = {"a": [0.1, 0.9], "b": [0.8, 0.2], "c": [0.5, 0.5]}


HOW: dict[str, dict[str, bool]] = {
    f"{word}{' contexts' * contexts}{' features' * features}": {
        "binary": word == "binary",
        "contexts": contexts,
        "features": features,
    }
    for word in ("binary", "fractional")
    for contexts in (False, True)
    for features in (False, True)
    if word == "binary" or contexts or not features  # with features alone once is enough
}


def cases_of(policy: Policy) -> list[str]:
    """Return the cases that a policy can play."""
    return [case for case, how in HOW.items() if policy.uses_arm_features or not how["features"]]


def clock() -> float:
    return 0.0


def arms_of(names: str, *, features: bool) -> Any:
    """Return arms on offer, with or without what is known of them."""
    return {name: FEATURES[name] for name in names} if features else list(names)


def played(policy: Policy, *, binary: bool, contexts: bool, features: bool) -> Bandit:
    """Return a bandit after some rounds, with rewards under way and a set of arms of its own."""
    options = {"rounds": ROUNDS, "votes": 3, "clock": clock, "ids": counted()}
    bandit = Bandit(["a", "b", "c"], policy, seed=4, **options)
    rng = stream(11)
    for i in range(ROUNDS):
        context = rng.uniform(-1.0, 1.0, 3) if contexts else None
        decision = bandit.decide(
            context, arms=arms_of("ac" if i % 6 == 5 else "abc", features=features)
        )
        value = (0.2 + 0.7 * rng.random()) * (0.4 if decision.arm == "a" else 1.0)
        if i % 4 != 3:
            bandit.reward(decision.id, float(rng.random() < value) if binary else value)
    return bandit


def next_arms(bandit: Bandit, *, contexts: bool, features: bool) -> list[Any]:
    bandit._new_id = counted("next ")
    several = [CONTEXT * k for k in range(4)] if contexts else 4
    arms = arms_of("abc", features=features)
    return [[d.arm, d.propensities] for d in bandit.decide_many(several, arms=arms)]


def facts_of(policy: Policy, *, binary: bool, **given: bool) -> dict[str, Any]:
    bandit = played(policy, binary=binary, **given)
    resolved = policy.resolved(contextual=given["contexts"] or given["features"])
    known = resolved.has_propensities(binary=binary, shared=given["features"])
    exactly = isinstance(resolved, Giro) and binary  # nothing to note for the next choice
    found = {"known": known, "mutates": resolved.choose_mutates_state and not exactly}
    again = Bandit.replay(bandit.events(), policy, clock=clock)
    here, there = (next_arms(each, **given) for each in (bandit, again))
    return found | {"here": here, "there": there}


def law_of(policy: Policy, *, binary: bool, **given: bool) -> dict[str, Any]:
    """Return what the policy says of its choice of two arms, and how likely its choices are."""
    resolved = policy.resolved(contextual=given["contexts"] or given["features"])
    if not resolved.has_propensities(binary=binary, shared=given["features"]):
        return {}
    its, arms = (
        played(policy, binary=binary, **given)._state,
        arms_of("ac", features=given["features"]),
    )
    context = CONTEXT if given["contexts"] else None
    offer, state = its.offered(context, arms, its.asked(arms), its.forms), its.live.state
    law = np.asarray(resolved.functions().propensities(state, offer))
    rng, counts = stream(5), np.zeros(3, np.int64)
    for _ in range(DRAWS):
        counts[choose(state, offer, rng)] += 1
    return {"law": law.tolist(), "p_value": p_value_of_counts(counts[offer.arms], law)}


def facts_or_failure(policy: Policy, **how: bool) -> dict[str, Any]:
    """Return the facts, or what went wrong: one bad policy must not hide the others."""
    try:
        return law_of(policy, **how) if "laws" in sys.argv else facts_of(policy, **how)
    except Exception as error:
        return {"error": repr(error)}


if __name__ == "__main__":
    facts = {}
    for policy in policies_in_bandits():
        for case in cases_of(policy):
            facts[f"{policy} {case}"] = facts_or_failure(policy, **HOW[case])
    json.dump(facts, sys.stdout)
