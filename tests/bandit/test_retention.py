"""Older events leave the log, and the bandit stays what it was."""

import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bandit.clock import Clock, counted
from bandit.conftest import KINDS, address
from bandit.test_timeline import sums_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from giro import BadParameter, Bandit, evaluate
from giro.bandit import retention
from giro.bandit.retention import Progress
from giro.bandit.setting import Setting
from giro.bandit.stores import Milestone
from giro.policies.randomized import Randomized
from giro.policy import Policy, arrays_of

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("play"), st.integers(1, 6)),
        st.tuples(st.just("decide"), st.integers(0, 3)),
        st.tuples(st.just("reward"), st.integers(0, 9)),
        st.tuples(st.just("keep"), st.none()),
        st.tuples(st.just("arm"), st.sampled_from("def")),
        st.tuples(st.just("retire"), st.sampled_from("abc")),
        st.tuples(st.just("erase"), st.none()),
        st.tuples(st.just("reopen"), st.none()),
        st.tuples(st.just("follow"), st.none()),
    ),
    min_size=5,
    max_size=25,
)


class Lived:
    """A bandit, what is done to it, and in a store another one that keeps up with it at times."""

    def __init__(self, policy: str, where: str | None, name: str, retain: int | None) -> None:
        self.where, self.name, self.waiting = where, name, list[str]()
        self.options: dict[str, Any] = {"clock": Clock(), "ids": counted()}
        self.bandit = Bandit(
            ["a", "b", "c"], policy, seed=2, name=name, store=where, retain=retain, **self.options
        )
        self.context = [0.5, -1.0] if "lin" in policy else None
        self.bandit.decide(self.context, id="first")
        self.other = None if where is None else Bandit.open(where, name, **self.options)

    def play(self, n: int) -> None:
        for i in range(n):
            self.decide(i)
            self.bandit.reward(self.waiting.pop(), float(i % 2))

    def decide(self, i: int) -> None:
        context = None if self.context is None else [i / 3.0, 1.0 - i]
        self.waiting.append(self.bandit.decide(context).id)

    def reward(self, i: int) -> None:
        if self.waiting:
            self.bandit.reward(self.waiting.pop(i % len(self.waiting)), 1.0)

    def keep(self, _: None) -> None:
        """Do the chores, which only one of the two does: whichever holds the lease."""
        self.follow(None)
        for bandit in (self.bandit, self.other or self.bandit):
            bandit.keep()

    def arm(self, name: str) -> None:
        if name not in self.bandit.arms:
            self.bandit.add_arm(name)

    def retire(self, name: str) -> None:
        if name in self.bandit.arms and len(self.bandit.arms) > 1:
            self.bandit.retire_arm(name)

    def erase(self, _: None) -> None:
        """Erase a decision that was made and rewarded just now."""
        self.play(1)
        self.bandit.erase(self.bandit.events()["id"].drop_nulls()[-1:])

    def reopen(self, _: None) -> None:
        if self.where is not None:
            self.bandit.close()
            self.options["ids"] = self.bandit._new_id
            self.bandit = Bandit.open(self.where, self.name, **self.options)

    def follow(self, _: None) -> None:
        if self.other is not None:
            self.other._follower.follow()

    def facts(self, bandit: Bandit) -> Any:
        bandit._follower.follow()
        live = bandit._state.live
        assert live is not None
        state = {path: array.tolist() for path, array in (arrays_of(live.state) or {}).items()}
        pending = [decision.id for decision in bandit.pending()]
        past = sums_of(bandit)
        return bandit.arms, bandit.summary().rows(), pending, state, live.learned, past

    def close(self) -> None:
        self.bandit.close()
        if self.other is not None:
            self.other.close()


_NAMES = counted("bandit ")


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    return {kind: address(kind, tmp_path_factory.mktemp("stores")) for kind in KINDS}


@settings(
    deadline=None,
    max_examples=1_000 if "--thorough" in sys.argv else 8,
    suppress_health_check=list(HealthCheck),
)
@given(steps=STEPS, policy=st.sampled_from(["giro", "thompson", "lin-ucb:scale=0.5"]))
def test_a_bandit_whose_events_leave_is_the_one_whose_events_stay(
    places: dict[str, str | None], steps: list[Any], policy: str
) -> None:
    name = _NAMES()
    whole = Lived(policy, None, name, None)
    lives = [Lived(policy, where, name, 4) for where in places.values()]
    try:
        for step, argument in (*steps, *[("play", 4), ("keep", None)] * 3):
            for lived in (whole, *lives):
                getattr(lived, step)(argument)
        facts, rows = whole.facts(whole.bandit), kept_rows(whole.bandit)
        for lived in lives:
            for bandit in (lived.bandit, lived.other or lived.bandit):
                np.testing.assert_equal(lived.facts(bandit), facts)
            left = kept_rows(lived.bandit)
            assert set(left) < set(rows)
            assert "left" in lived.bandit.events()["kind"]
    finally:
        for lived in (whole, *lives):
            lived.close()


def kept_rows(bandit: Bandit) -> list[str]:
    """Return the events about decisions, without their numbers."""
    events = bandit.events()
    assert events["number"].is_sorted()
    assert events["number"].is_unique().all()
    return [repr(row) for row in events.filter(events["id"].is_not_null()).drop("number").rows()]


# -- by hand -----------------------------------------------------------------------------------


def played(where: str | None, retain: Any = 8, rounds: int = 30, **rest: Any) -> Bandit:
    """Return a bandit that kept its log after each of some rounds."""
    options: dict[str, Any] = {"clock": Clock(), "ids": counted(), "seed": 1} | rest
    bandit = Bandit(["a", "b"], "thompson", name="x", store=where, retain=retain, **options)
    for i in range(rounds):
        bandit.reward(bandit.decide().id, float(i % 3 == 0))
        bandit.keep()
    return bandit


def test_what_is_old_leaves_and_positions_stay(where: str | None) -> None:
    with played(where) as bandit:
        early = bandit._store.milestones()
        events = bandit.events()
        left = events.filter(kind="left")
        base = int(left["seen"].max())  # type: ignore[arg-type]  # a number
        assert 8 <= events.filter(kind="reward").height <= 8 + 8 // 4 + 1
        assert len(early) <= retention.STEPS + 1
        assert bandit.n_rewards == 30
        assert events["kind"].to_list()[:4] == ["setting", "arm_added", "arm_added", "form"]
        assert events["number"].to_list()[:4] == [1, 2, 3, 4]
        after = events.filter(events["number"] > base)
        assert after["number"].to_list() == [*range(base + 1, bandit.position + 1)]
        assert bandit.events(since=base).equals(after)
        with pytest.raises(BadParameter, match=f"the log retains events behind {base}, got since"):
            bandit.events(since=base - 1)
        with pytest.raises(BadParameter, match=f"up to {base} have left this log"):
            Bandit.replay(events)
        assert evaluate(events, "always:a").events == events.filter(kind="reward").height
        with pytest.raises(BadParameter, match="no decision has the id"):
            bandit.reward("0", 1.0)


def test_decisions_that_wait_stay_until_their_reward_is_old(where: str | None) -> None:
    with played(where, rounds=0) as bandit:
        slow = bandit.decide(id="slow")
        for _ in range(30):
            bandit.reward(bandit.decide().id, 1.0)
            bandit.keep()
        assert bandit.decision("slow") == slow
        assert [decision.id for decision in bandit.pending()] == ["slow"]
        bandit.reward("slow", 0.0)
        assert bandit.events().filter(id="slow")["kind"].to_list() == ["decision", "reward"]
        for _ in range(30):
            bandit.reward(bandit.decide().id, 1.0)
            bandit.keep()
        assert bandit.events().filter(id="slow").height == 0
        assert bandit.n_rewards == 61


def test_events_leave_by_their_age(where: str | None) -> None:
    clock = Clock()
    with played(where, timedelta(seconds=100), 0, clock=clock) as bandit:
        for _ in range(40):
            clock.now += 10.0
            bandit.reward(bandit.decide().id, 1.0)
            bandit.keep()
        times = bandit.events().filter(kind="decision")["time"]
        assert 100.0 <= clock.now - float(times.min()) <= 140.0  # type: ignore[arg-type]
        assert bandit.n_rewards == 40


def test_a_file_holds_a_log_whose_events_left(where: str | None, tmp_path: Path) -> None:
    with played(where) as bandit:
        bandit.save(tmp_path / "x.giro")
        law = bandit.decide(id="next").propensities
        copies = [Bandit.load(tmp_path / "x.giro")]
        for kind in ("sqlite", "postgres"):
            store = address(kind, tmp_path / "copies")
            copies.append(Bandit.load(tmp_path / "x.giro", name="y", store=store))
        for copy in copies:
            events = bandit.events()
            assert copy.decide(id="next").propensities == law
            mine, others = (
                e.filter(e["id"].is_not_null(), e["id"] != "next") for e in (events, copy.events())
            )
            assert mine.drop("time").equals(others.drop("time"))
            assert copy.summary().drop("last_day").equals(bandit.summary().drop("last_day"))
            copy.close()


def test_another_policy_learns_what_is_left_and_says_so(tmp_path: Path) -> None:
    where = f"sqlite:///{tmp_path}/x.db"
    played(where).close()
    with pytest.warns(UserWarning, match="have left the log, and ucb1.* can only learn from those"):
        bandit = Bandit.open(where, "x", "ucb1")
    live = bandit._state.live
    assert live is not None
    assert live.learned == bandit.events().filter(kind="reward").height
    assert bandit.n_rewards == 30
    bandit.reward(bandit.decide().id, 1.0)
    bandit.close()


def test_what_left_is_kept_by_a_giro_that_behaves_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = f"sqlite:///{tmp_path}/x.db"
    bandit = played(where)
    law = bandit.decide(id="q").propensities
    bandit.close()
    monkeypatch.setattr("giro.live.fingerprint", lambda *_: "another")
    with pytest.warns(UserWarning, match="this giro would have learned them otherwise"):
        other = Bandit.open(where, "x")
    assert other.decide(id="q2").propensities == law
    assert other.n_rewards == 30
    other.close()


def test_what_is_in_the_log_can_be_erased(where: str | None) -> None:
    with played(where) as bandit, played(None, None) as whole:
        last = str(bandit.events()["id"].drop_nulls()[-1])
        for each in (bandit, whole):
            assert each.erase([last]) == 2
            each._follower.follow()
        assert bandit.erase(["0"]) == 0  # left
        assert bandit.n_rewards == whole.n_rewards == 29
        assert bandit.decide(id="q").propensities == whole.decide(id="q").propensities


def test_how_long_events_stay_can_be_changed(where: str | None) -> None:
    if where is None:
        return
    played(where, retain=None).close()
    with Bandit.open(where, "x", retain=8) as bandit:
        assert bandit.setting["retain_rewards"] == 8
        bandit.keep()
        for _ in range(12):
            bandit.reward(bandit.decide().id, 1.0)
            bandit.keep()
        assert bandit.events().filter(kind="reward").height <= 11


@pytest.mark.parametrize("retain", [0, -1, 1.5, "1 day", timedelta(0), True])
def test_other_values_are_refused(retain: Any) -> None:
    with pytest.raises(BadParameter, match=r"a bandit needs .*retain_"):
        Bandit(["a", "b"], retain=retain)


def test_a_policy_that_no_snapshot_can_hold_is_refused() -> None:
    with pytest.raises(BadParameter, match="with retain= a snapshot takes the place"):
        Bandit(["a", "b"], Randomized(lambda history, rng: rng.choice(history)), retain=100)


def test_a_milestone_is_made_each_quarter_and_is_due_when_it_is_old() -> None:
    setting = Setting(Policy.parse("thompson"), retain_rewards=8)
    first = Milestone(10, 0.0, 5)
    assert retention.needs_milestone([], setting, Progress(10, 0.0, 5))
    assert not retention.needs_milestone([first], setting, Progress(14, 0.0, 6))
    assert retention.needs_milestone([first], setting, Progress(14, 0.0, 7))
    assert retention.next_base([first], setting, Progress(14, 1e9, 12)) is None
    assert retention.next_base([first], setting, Progress(14, 1e9, 13)) == first
