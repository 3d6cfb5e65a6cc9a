"""What every policy promises to a bandit that is saved: loaded, it goes on as if it never was."""

import functools
import itertools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from bandit.clock import Clock, counted
from known import marks_of, policies_in_bandits

from giro import Bandit, Policy, live
from giro.live import LivePolicy
from giro.seeds import stream

ROUNDS = 18
FEATURES = {"a": [0.1, 0.9], "b": [0.8, 0.2], "c": [0.5, 0.5], "d": [0.3, 0.1]}
HOW: dict[str, dict[str, bool]] = {
    "binary contexts": {"binary": True, "contexts": True, "features": False},
    "fractional": {"binary": False, "contexts": False, "features": False},
    "fractional contexts features": {"binary": False, "contexts": True, "features": True},
}

PassOn = Callable[[Bandit], Bandit]


def cases_of(policy: Policy) -> list[str]:
    """Return the cases that a policy can play, the last one with all that it can be given."""
    left_out = "fractional" if policy.uses_arm_features else "fractional contexts features"
    return [case for case in HOW if case != left_out]


def lived(
    policy: Policy, clock: Clock, pass_on: PassOn, *, binary: bool, contexts: bool, features: bool
) -> dict[str, Any]:
    """Return the decisions and the log of a bandit that is passed on after every round."""
    options: dict[str, Any] = {
        "reward_range": (-1, 3),
        "rounds": ROUNDS,
        "votes": 3,
        "ids": counted(),
    }
    bandit = Bandit(["a", "b", "c"], policy, seed=4, first_decisions=3, clock=clock, **options)
    rng, told = stream(11), []
    for i in range(ROUNDS):
        clock.now += 1.0
        names = bandit.arms if i % 5 else bandit.arms[:2]
        decision = bandit.decide(
            rng.uniform(-1.0, 1.0, 2) if contexts else None,
            arms={name: FEATURES[name] for name in names} if features else names,
            id=f"request {i}" if i % 7 == 3 else None,
        )
        told.append([decision.id, decision.arm])
        value = (0.2 + 0.7 * rng.random()) * (0.4 if decision.arm == "a" else 1.0)
        value = float(rng.random() < value) if binary else value
        if i % 4 != 3:
            bandit.reward(decision.id, 4.0 * value - 1.0)
        _change(bandit, i)
        bandit = pass_on(bandit)
    return {"decisions": told, "log": bandit.events().write_ndjson().split("\n")}


def _change(bandit: Bandit, i: int) -> None:
    """Let arms come and go, and rewards that never came expire."""
    if i == 6:
        bandit.add_arm("d")
    elif i == 9:
        bandit.expire(older_than=5.0, reward=-1.0)
    elif i == 11:
        bandit.retire_arm("b")
    elif i == 14:
        bandit.add_arm("b")


def saved_at_times(policy: Policy, clock: Clock, folder: Path) -> PassOn:
    """Save and load at random moments, a few times; also before anything was rewarded."""
    moments = {0, *stream(3).choice(ROUNDS, 3, replace=False).tolist()}
    rounds = itertools.count()

    def pass_on(bandit: Bandit) -> Bandit:
        if next(rounds) not in moments:
            return bandit
        bandit.save(folder / "x.giro")
        return Bandit.load(folder / "x.giro", policy, clock=clock, ids=bandit._new_id)

    return pass_on


@functools.cache
def facts_of(policy: Policy, case: str) -> dict[str, Any]:
    """Return what happens without saving, with snapshots that are used, and without."""
    how = HOW[case]
    found: dict[str, Any] = {"straight": lived(policy, Clock(), lambda bandit: bandit, **how)}
    restored, original = [], LivePolicy.from_snapshot

    def noted(*given: Any, **options: Any) -> Any:
        restored.append(original(*given, **options))
        return restored[-1]

    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(LivePolicy, "from_snapshot", noted),
    ):
        mutates = policy.resolved(contextual=how["contexts"]).choose_mutates_state
        for word in ("loaded",) if mutates else ("loaded", "replayed"):
            clock, other = Clock(), (str(i) for i in itertools.count())
            changed = mock.patch.object(live, "fingerprint", lambda *_, other=other: next(other))
            with mock.patch.object(live, "_GAME", 8) if word == "loaded" else changed:
                restored.clear()
                pass_on = saved_at_times(policy, clock, Path(folder))
                found[word] = lived(policy, clock, pass_on, **how)
                found[f"snapshots {word}"] = sum(state is not None for state in restored)
    return found


each_policy_and_case = pytest.mark.parametrize(
    ("policy", "case"),
    [
        pytest.param(policy, case, id=f"{policy} {case}", marks=marks_of(policy))
        for policy in policies_in_bandits()
        for case in cases_of(policy)
    ],
)


@each_policy_and_case
@pytest.mark.parametrize("how", ["loaded", "replayed"])
def test_decisions_ids_and_propensities_are_those_of_the_bandit_that_was_not_saved(
    policy: Policy, case: str, how: str
) -> None:
    found = facts_of(policy, case)
    if how == "replayed" and policy.resolved(contextual="contexts" in case).choose_mutates_state:
        return  # what choices note for later ones is in snapshots, not in the log
    assert found[how]["decisions"] == found["straight"]["decisions"]
    assert found[how]["log"] == found["straight"]["log"]


@each_policy_and_case
def test_a_snapshot_is_used_if_behaviour_is_the_same_and_only_then(
    policy: Policy, case: str
) -> None:
    found = facts_of(policy, case)
    assert found.get("snapshots replayed", 0) == 0
    assert found["snapshots loaded"] == 4
