"""What every policy promises to a bandit: its log says all, and decides the same again."""

from typing import Any

import numpy as np
import pytest
from bandit.clock import counted, live_of
from known import marks_of, policies_in_bandits
from laws import ALPHA, p_value_of_counts

from giro import Bandit, Policy
from giro.bandit.deciding import Request, encoded
from giro.offer import Offer
from giro.policies import Giro
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

each_policy_and_case = pytest.mark.parametrize(
    ("policy", "case"),
    [
        pytest.param(policy, case, id=f"{policy} {case}", marks=marks_of(policy))
        for policy in policies_in_bandits()
        for case, how in HOW.items()
        if policy.uses_arm_features or not how["features"]
    ],
)


def clock() -> float:
    return 0.0


def arms_of(names: str, *, features: bool) -> Any:
    """Return arms on offer, with or without what is known of them."""
    return {name: FEATURES[name] for name in names} if features else list(names)


def played(policy: Policy, *, binary: bool, contexts: bool, features: bool) -> Bandit:
    """Return a bandit after some rounds, with rewards under way and a set of arms of its own."""
    options: dict[str, Any] = {"rounds": ROUNDS, "votes": 3, "clock": clock, "ids": counted()}
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


def next_decisions(bandit: Bandit, *, contexts: bool, features: bool) -> list[Any]:
    bandit._new_id = counted("next ")
    several = [CONTEXT * k for k in range(4)] if contexts else 4
    arms = arms_of("abc", features=features)
    return [[d.arm, d.propensities] for d in bandit.decide_many(several, arms=arms)]


def resolved(policy: Policy, *, contexts: bool, features: bool) -> Policy:
    return policy.resolved(contextual=contexts or features)


@each_policy_and_case
def test_a_replay_decides_the_same_bit_for_bit(policy: Policy, case: str) -> None:
    binary, given = HOW[case]["binary"], {key: HOW[case][key] for key in ("contexts", "features")}
    bandit = played(policy, binary=binary, **given)
    again = Bandit.replay(bandit.events(), policy, clock=clock)
    here, there = (next_decisions(each, **given) for each in (bandit, again))
    plays = resolved(policy, **given)
    exactly = isinstance(plays, Giro) and binary  # nothing to note for the next choice
    if exactly or not plays.choose_mutates_state:
        assert there == here, "does choosing leave traces in the state?"
    assert len(there) == len(here)


@pytest.mark.slow  # quick tests look closer, without bandits: test_offers.py
@each_policy_and_case
def test_choices_follow_the_law_that_the_policy_tells(policy: Policy, case: str) -> None:
    binary, given = HOW[case]["binary"], {key: HOW[case][key] for key in ("contexts", "features")}
    plays = resolved(policy, **given)
    if not plays.has_propensities(binary=binary, shared=given["features"]):
        return
    its = played(policy, binary=binary, **given)._state
    arms = arms_of("ac", features=given["features"])
    context = CONTEXT if given["contexts"] else None
    assert its.schema is not None
    _, asked, _, rows = encoded(Request(None, context, arms), its, its.schema)
    offer = Offer(asked, rows.context, rows.features)
    live_of(its).stream_of(5)
    law = live_of(its).propensities(offer)
    assert law is not None
    counts = (DRAWS * live_of(its).vote(offer, DRAWS)).round().astype(int)
    assert law.sum() == pytest.approx(1.0, abs=1e-9)
    assert p_value_of_counts(counts, law) > ALPHA


EXACT = ("giro", "thompson", "ucb1", "kl-ucb", "epsilon-greedy:epsilon=0.1", "greedy", "uniform")
ALSO_EXACT = ("phe", "ensemble", "bootstrap", "bootstrap-thompson", "online-bootstrap:replicas=50")


@pytest.mark.parametrize("text", [*EXACT, *ALSO_EXACT])
def test_the_law_of_zeros_and_ones_is_known(text: str) -> None:
    bandit = played(Policy.parse(text), **HOW["binary"])
    assert bandit.decide().propensities is not None
    assert Policy.parse(text).has_propensities(binary=True, shared=False)
