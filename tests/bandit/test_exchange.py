"""The log is the bandit: exported, replayed, saved and loaded, it goes on the same."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from bandit.clock import Clock, bandit_of, counted, next_arms, state_of
from hypothesis import given, settings
from hypothesis import strategies as st

from giro import BadFile, BadParameter, Bandit, UnknownName
from giro.policies.randomized import Randomized

COLUMNS = {
    "number": pl.Int64,
    "kind": pl.String,
    "id": pl.String,
    "time": pl.Float64,
    "arm": pl.String,
    "reward": pl.Float64,
    "propensity": pl.Float64,
    "arms": pl.List(pl.String),
    "propensities": pl.List(pl.Float64),
    "context": pl.List(pl.Float64),
    "features": pl.List(pl.List(pl.Float64)),
    "own": pl.Float64,
    "seen": pl.Int64,
    "setting": pl.String,
}


def eventful(policy: Any = "epsilon-greedy:epsilon=0.2", **rest: Any) -> Bandit:
    """Return a bandit to which everything has happened."""
    clock = Clock()
    bandit = Bandit(
        ["red", "green", "blue ♥"],
        policy,
        **(
            {"seed": 5, "reward_range": (-1, 3), "clock": clock, "floor": 0.05, "ids": counted()}
            | rest
        ),
    )
    for i in range(40):
        clock.now += 1 / 3
        decision = bandit.decide(
            {"page": "abc"[i % 3], "age": i / 7},
            arms=["red", "green"] if i % 5 == 0 else None,
            id=f"request {i}" if i % 4 == 0 else None,
        )
        if i % 3:
            bandit.reward(decision.id, -1 + (i % 5))
        if i == 20:
            bandit.add_arm("late")
        if i == 29:
            bandit.expire(older_than=5.0, reward=1.0)
            bandit.retire_arm("red")
            bandit.add_arm("red")
    return bandit


def futures(bandit: Bandit) -> list[tuple[str, str, float | None]]:
    """Return what the bandit would do next, whatever comes."""
    bandit._clock, bandit._new_id = Clock(5_000.0), counted("next ")
    done = []
    for i in range(12):
        decision = bandit.decide(
            {"page": "z", "age": 1}, arms=["green", "late"] if i % 4 == 3 else None
        )
        done.append((decision.id, decision.arm, decision.propensity))
        if i % 2:
            bandit.reward(decision.id, i / 4)
    return done


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


# -- files -----------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    eventful().save(tmp_path / "x.giro")
    return tmp_path / "x.giro"


def test_a_file_cut_short_anywhere_is_refused(saved: Path) -> None:
    content = saved.read_bytes()
    for length in (0, 5, 13, 14, 60, 79, 80, len(content) // 2, len(content) - 1):
        saved.write_bytes(content[:length])
        with pytest.raises(BadFile, match=r"not a bandit saved by giro|damaged"):
            Bandit.load(saved)


def test_a_file_altered_anywhere_is_refused(saved: Path) -> None:
    content = saved.read_bytes()
    for position in [*range(0, 90, 3), *range(90, len(content), max(1, len(content) // 40))]:
        saved.write_bytes(
            content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :]
        )
        with pytest.raises(BadFile):
            Bandit.load(saved)


def test_files_of_other_kinds_and_of_newer_versions_are_refused(saved: Path) -> None:
    newer = saved.read_bytes().replace(b"giro-bandit 4\n", b"giro-bandit 5\n", 1)
    saved.write_bytes(newer)
    with pytest.raises(BadFile, match="saved by another giro, in format 5"):
        Bandit.load(saved)
    body = b"neither parquet nor zip"
    digest = hashlib.sha256(body).hexdigest().encode()
    for form in (b"1", b"3"):
        saved.write_bytes(b"giro-bandit " + form + b"\n" + digest + b"\n" + body)
        with pytest.raises(BadFile, match="damaged"):
            Bandit.load(saved)
    saved.write_bytes(b"PK\x03\x04 something else")
    with pytest.raises(BadFile, match="not a bandit"):
        Bandit.load(saved)
    with pytest.raises(BadFile, match="no file"):
        Bandit.load(saved.with_name("missing"))
    with pytest.raises(BadFile, match="cannot be read"):
        Bandit.load(saved.parent)


def _crash(*_: object) -> None:
    raise OSError("disk on fire")


def test_a_crash_while_saving_leaves_the_old_file(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = saved.read_bytes()
    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, step, _crash)
            with pytest.raises(BadFile, match=r"x\.giro cannot be written: disk on fire"):
                bandit_of().save(saved)
        assert saved.read_bytes() == before
        assert os.listdir(saved.parent) == [saved.name]


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


# -- files of earlier versions -----------------------------------------------------------------

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("format-*.giro")), ids=lambda path: path.stem)
def test_files_of_earlier_versions_are_read_and_go_on(path: Path) -> None:
    expected = json.loads(path.with_suffix(".json").read_text())
    bandit = Bandit.load(path)
    assert bandit.arms == expected["arms"]
    assert bandit.n_rewards == expected["rewards"]
    told = bandit.events().filter(kind="decision")["propensity"].to_list()
    assert len(told) == len(expected["propensities"])
    for p, known in zip(told, expected["propensities"], strict=True):  # unknown if never read
        assert (p is None and path.stem == "format-1") or p == pytest.approx(known, abs=1e-12)
    again = Bandit.replay(bandit.events())
    assert again.events().drop("setting").equals(bandit.events().drop("setting"))
    mine, again = futures(bandit), futures(Bandit.load(path))
    assert mine == again
    if path.stem != "format-1":  # giro 0.1.0 drew by the number of a decision
        assert [list(step) for step in mine] == [
            [id, arm, pytest.approx(p, abs=1e-12)] for id, arm, p in expected["next"]
        ]


def write_golden(name: str) -> None:
    """Write the file of this version and what is expected of it; run by hand, once a version."""
    GOLDEN.mkdir(exist_ok=True)
    bandit = eventful()
    bandit.save(GOLDEN / f"{name}.giro")
    expected = {
        "arms": bandit.arms,
        "rewards": bandit.n_rewards,
        "propensities": bandit.events()["propensity"].drop_nulls().to_list(),
        "next": futures(bandit),
    }
    (GOLDEN / f"{name}.json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n")
