"""The log is the bandit: exported and replayed it goes on the same. Logs of others are learned."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from bandit.clock import Clock, bandit_of, counted, next_arms, state_of
from bandit.eventful import eventful, futures
from hypothesis import given, settings
from hypothesis import strategies as st

from giro import BadFile, BadParameter, Bandit, UnknownName, read_log
from giro.policies.randomized import Randomized

COLUMNS = {
    "number": pl.Int64,
    "kind": pl.String,
    "id": pl.String,
    "time": pl.Float64,
    "arm": pl.String,
    "reward": pl.Float64,
    "report": pl.String,
    "propensity": pl.Float64,
    "arms": pl.List(pl.String),
    "propensities": pl.List(pl.Float64),
    "context": pl.List(pl.Float64),
    "features": pl.List(pl.List(pl.Float64)),
    "context_codes": pl.List(pl.Int64),
    "feature_codes": pl.List(pl.List(pl.Int64)),
    "own": pl.Float64,
    "seen": pl.Int64,
    "setting": pl.String,
}


def test_events_have_the_columns_that_are_documented() -> None:
    bandit = eventful()
    events = bandit.events()
    assert dict(events.schema) == COLUMNS
    assert events["number"].to_list() == list(range(1, events.height + 1))
    assert bandit.events(since=7).equals(events[7:])
    decisions = events.filter(pl.col("kind") == "decision")
    kinds = {"setting", "form", "decision", "reward", "expired", "arm_added", "arm_retired"}
    assert set(events["kind"]) == kinds
    for row in decisions.iter_rows(named=True):
        assert row["propensity"] == row["propensities"][row["arms"].index(row["arm"])]
        assert sum(row["propensities"]) == pytest.approx(1.0)
    rewards = events.filter(pl.col("kind").is_in(["reward", "expired"]))
    joined = rewards.join(decisions, on="id", suffix="_decided")
    assert joined.height == rewards.height
    assert (joined["arm"] == joined["arm_decided"]).all()


@pytest.mark.parametrize("how", ["table", "events.parquet", "events.jsonl", "file"])
def test_a_replay_goes_on_bit_for_bit(how: str, tmp_path: Path) -> None:
    bandit = eventful()
    if how == "table":
        again = Bandit.replay(bandit.events())
    elif how == "file":
        bandit.save(tmp_path / "deep" / "x.giro")
        again = Bandit.load(tmp_path / "deep" / "x.giro")
    else:
        bandit.write_events(tmp_path / how)
        again = Bandit.replay(tmp_path / how)
    assert state_of(again) == state_of(bandit)
    assert futures(again) == futures(bandit)


@pytest.mark.parametrize("how", ["table", "events.parquet", "events.jsonl", "file"])
def test_names_of_reports_come_back(how: str, tmp_path: Path) -> None:
    bandit = Bandit(["a", "b"], "ucb1", reward_wait=60, reward_aggregation="sum")
    id = bandit.decide().id
    bandit.reward_many([(id, 0.25, "x"), (id, 0.25), (id, 0.25, "é")])
    if how == "table":
        again = Bandit.replay(bandit.events())
    elif how == "file":
        bandit.save(tmp_path / "x.giro")
        again = Bandit.load(tmp_path / "x.giro")
    else:
        bandit.write_events(tmp_path / how)
        again = Bandit.replay(tmp_path / how)
    again.reward(id, 0.25, report="é")
    reports = again.events().filter(pl.col("kind") == "report")
    assert reports["report"].to_list() == ["x", None, "é"]


operations = st.lists(
    st.one_of(
        st.tuples(st.just("decide"), st.integers(0, 3)),
        st.tuples(st.just("reward"), st.integers(0, 30), st.sampled_from([0.0, 1.0, 0.25])),
        st.tuples(st.just("add"), st.sampled_from("abcdef")),
        st.tuples(st.just("retire"), st.sampled_from("abcdef")),
        st.tuples(st.just("expire"), st.integers(0, 5)),
        st.tuples(st.just("wait"), st.floats(0.0, 2.0)),
    ),
    max_size=40,
)


def done(bandit: Bandit, clock: Clock, steps: list[Any]) -> None:
    """Do what is asked, or find it refused."""
    for step, *arguments in steps:
        try:
            if step == "decide":
                bandit.decide(arms=bandit.arms[: arguments[0]] or None)
            elif step == "reward":
                bandit.reward(f"{arguments[0]}", arguments[1])
            elif step == "add":
                bandit.add_arm(arguments[0])
            elif step == "retire":
                bandit.retire_arm(arguments[0])
            elif step == "expire":
                bandit.expire(arguments[0], 0.5)
            else:
                clock.now += arguments[0]
        except (BadParameter, UnknownName):
            pass


@settings(deadline=None, max_examples=60)
@given(before=operations, after=operations, policy=st.sampled_from(["thompson", "ucb1"]))
def test_whatever_happens_a_replay_and_a_loaded_file_go_on_the_same(
    before: list[Any], after: list[Any], policy: str
) -> None:
    clocks = [Clock(), Clock()]
    bandit = bandit_of(policy, clock=clocks[0])
    done(bandit, clocks[0], before)
    clocks[1].now = clocks[0].now
    again = Bandit.replay(bandit.events(), clock=clocks[1])
    bandit._new_id, again._new_id = counted("later "), counted("later ")
    for each, clock in zip((bandit, again), clocks, strict=True):
        done(each, clock, after)
    assert state_of(again) == state_of(bandit)


def test_another_policy_learns_the_same_rewards() -> None:
    bandit = bandit_of("uniform", "ab", seed=2)
    for _ in range(40):
        decision = bandit.decide()
        bandit.reward(decision.id, float(decision.arm == "b"))
    other = Bandit.replay(bandit.events(), "greedy", clock=Clock())
    assert {decision.arm for decision in other.decide_many(10)} == {"b"}
    assert other.decide().propensity == 1.0
    assert other.decision("0").propensity == 0.5  # was not greedy's decision


def test_policies_that_hold_python_objects_are_given_again() -> None:
    policy = Randomized(lambda history, rng: rng.choice(history))
    bandit = bandit_of(policy, "ab", votes=3)
    for i in range(20):
        bandit.reward(bandit.decide().id, i % 2)
    with pytest.raises(BadParameter, match=r"holds Python objects.*give policy=\.\.\. again"):
        Bandit.replay(bandit.events())
    again = Bandit.replay(bandit.events(), policy, clock=Clock())
    assert state_of(again) == state_of(bandit)
    assert next_arms(again, 20) == next_arms(bandit, 20)


def changed(events: pl.DataFrame, row: int, **values: Any) -> pl.DataFrame:
    rows = events.to_dicts()
    rows[row] |= values
    return pl.DataFrame(rows, schema=events.schema)


def test_events_that_do_not_follow_are_refused() -> None:
    bandit = bandit_of("ucb1", "ab")
    bandit.reward(bandit.decide().id, 1.0)  # rows 4 and 5
    bandit.decide()
    events = bandit.events()
    wrong = [
        changed(events, 4, number=7),
        changed(events, 4, arm="z"),
        changed(events, 4, arms=["b", "a"]),
        changed(events, 4, kind="decided"),
        changed(events, 4, time=None),
        changed(events, 4, time=float("nan")),
        changed(events, 4, propensities=[1.0]),
        changed(events, 5, reward=2.0),
        changed(events, 5, reward=float("nan")),
        changed(events, 5, reward=None),
        changed(events, 5, id="1"),
        changed(events, 6, id="0"),
        changed(events, 6, id=None),
        changed(events, 6, context=[1.0]),
        changed(events, 1, arm=None),
    ]
    for table in wrong:
        with pytest.raises(BadParameter, match=r"event \d does not follow"):
            Bandit.replay(table)
    for table in (events[1:], events.drop("kind"), changed(events, 0, setting="{}"), events[:0]):
        with pytest.raises(BadParameter, match=r"setting|column kind|event 2 does not follow"):
            Bandit.replay(table)
    with pytest.raises(BadFile, match="no file"):
        Bandit.replay("nowhere.parquet")
    with pytest.raises(BadParameter, match=r"\.parquet or \.jsonl"):
        bandit.write_events("events.csv")


def _crash(*_: object) -> None:
    raise OSError("disk on fire")


def test_a_crash_while_writing_events_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("events.parquet", "events.jsonl"):
        path = tmp_path / name
        bandit_of().write_events(path)
        before = path.read_bytes()
        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", _crash)
            with pytest.raises(BadFile, match="cannot be written: disk on fire"):
                eventful().write_events(path)
        assert path.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["events.jsonl", "events.parquet"]


# -- logs of others -----------------------------------------------------------------------------


def test_a_log_of_another_system_is_learned() -> None:
    log = {
        "arm": ["a", "b", "new"] * 20,
        "reward": [0.0, 1.0, 0.0] * 20,
        "probability": [0.2, 0.5, 0.3] * 20,
    }
    bandit = Bandit(["a", "b"], "greedy")
    assert bandit.learn_from(read_log(log)) == 60
    assert bandit.arms == ["a", "b", "new"]
    assert bandit.n_rewards == 60
    assert bandit.decide().arm == "b"
    assert bandit.summary()["mean"].to_list() == [0.0, 1.0, 0.0]
    decisions = bandit.events().filter(kind="decision")
    assert decisions["propensity"].to_list()[:3] == [0.2, 0.5, 0.3]
    before = bandit.position
    for wrong in (log | {"reward": [3.0] * 60}, log | {"context": [[1.0]] * 60}):
        with pytest.raises(BadParameter):
            bandit.learn_from(read_log(wrong))
    with pytest.raises(BadParameter, match=r"giro\.read_log returns, got dict"):
        bandit.learn_from(log)  # type: ignore[arg-type]
    assert bandit.position == before


def test_a_log_with_contexts_is_learned() -> None:
    rows = [[i * 7 % 40 / 40.0, 1.0] for i in range(40)]
    log = {
        "arm": ["a", "b"] * 20,
        "reward": [x if i % 2 else 1 - x for i, (x, _) in enumerate(np.clip(rows, 0, 1))],
        "probability": [0.5] * 40,
        "context": rows,
    }
    bandit = Bandit(["a", "b"], "lin-ucb:scale=0.01")
    bandit.learn_from(read_log(log))
    assert bandit.decide([0.9, 1.0]).arm == "b"
    assert bandit.decide([0.1, 1.0]).arm == "a"
