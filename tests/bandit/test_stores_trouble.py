"""Full disks, databases that go and come back, clocks that go back, other versions of giro."""

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from bandit.clock import Clock, counted
from bandit.conftest import address
from bandit.stores.postgres import pull_the_plug, start_again, url_or_reason

from giro import BadFile, Bandit, live
from giro.bandit.stores.sqlite import SqliteStore
from giro.errors import StoreError

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_processes_that_are_killed_lose_nothing(store: str) -> None:
    """A short form of `make torture`."""
    if store == "postgres" and url_or_reason()[0] is None:
        pytest.skip(url_or_reason()[1])
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "torture.py", "--store", store, "--cycles", "12"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "nothing lost or doubled, every state equal" in done.stdout


def test_a_full_disk_loses_nothing_that_was_told(tmp_path: Path) -> None:
    where = f"sqlite:///{tmp_path}/x.db"
    with Bandit(["a", "b"], "thompson", store=where, name="x") as bandit:
        told = [bandit.decide().id]
        store = bandit._store
        assert isinstance(store, SqliteStore)
        full = store._connected()
        (pages,) = full.execute("PRAGMA page_count").fetchone()
        full.execute(f"PRAGMA max_page_count = {pages + 4}")
        store._writer = full
        with pytest.raises(StoreError, match="disk is full"):
            for _ in range(1_000):
                told.append(bandit.decide().id)
        before = bandit.n_decisions
        told.append(bandit.decide().id)  # there is room again
        assert bandit.n_decisions == before + 1
    with Bandit.open(where, "x") as again:
        assert [decision.id for decision in again.pending()] == told
        assert sum(n for _, n in bandit._state.cold_start.to_json()["under_way"]) == len(told)


@pytest.mark.parametrize("path", ["/dev/null/x.db", "/proc/x.db"])
def test_a_place_where_nothing_can_be_written_is_a_clear_error(path: str) -> None:
    with pytest.raises(StoreError, match=r"the store .*x\.db fails: "):
        Bandit(["a", "b"], "thompson", store=f"sqlite:///{path}", name="x")


def test_a_file_of_something_else_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"something else, longer than a header" * 100)
    with pytest.raises(StoreError, match="not a database"):
        Bandit(["a", "b"], "thompson", store=f"sqlite:///{tmp_path}/x.db", name="x")


def test_a_database_that_goes_and_comes_back(tmp_path: Path) -> None:
    where = address("postgres", tmp_path)
    with Bandit(["a", "b"], "thompson", store=where, name="x") as bandit:
        told = [bandit.decide().id for _ in range(5)]
        bandit.reward(told[0], 1.0)
        pull_the_plug()
        try:
            for call in (bandit.decide, lambda: bandit.reward(told[1], 1.0), bandit.pending):
                with pytest.raises(StoreError, match="PostgreSQL fails"):
                    call()
            with pytest.raises(StoreError, match="PostgreSQL fails"):
                Bandit.open(str(where), "x")
        finally:
            start_again()
        told.append(bandit.decide().id)
        bandit.reward(told[1], 1.0)
        assert [decision.id for decision in bandit.pending()] == told[2:]
    with Bandit.open(str(where), "x") as again:
        assert again.n_rewards == 2


def test_a_clock_that_goes_back_changes_nothing_but_times(tmp_path: Path) -> None:
    clock = Clock()
    options = {"clock": clock, "ids": counted(), "reward_wait": 10.0, "name": "x"}
    with Bandit(["a", "b"], "ucb1", store=f"sqlite:///{tmp_path}/x.db", **options) as bandit:
        bandit.decide()
        clock.now -= 500.0
        bandit.decide()
        bandit.keep()
        assert [decision.id for decision in bandit.pending()] == ["0", "1"]
        clock.now += 20.0
        bandit.keep()
        assert [decision.id for decision in bandit.pending()] == ["0"]
        bandit.reward("0", 1.0)
        kinds = ["decision", "decision", "expired", "reward"]
        assert bandit.events()["kind"].to_list()[-4:] == kinds
        assert bandit.summary()["last_day"].to_list() == [0.5, 0.5]


def test_a_state_that_was_interrupted_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    bandit, twin = (Bandit(["a", "b"], "thompson", ids="numbered", clock=Clock()) for _ in "12")
    for each in (bandit, twin):
        each.decide_many(6)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(live.LivePolicy, "learn", interrupted)
        with pytest.raises(KeyboardInterrupt):
            bandit.reward("2", 1.0)
    twin.reward("2", 1.0)
    for each in (bandit, twin):
        each.reward("3", 0.0)
    assert bandit.decide() == twin.decide()
    assert bandit.n_rewards == bandit._state.live.learned == 2


# -- other versions --------------------------------------------------------------------------


def test_tables_and_events_of_a_newer_giro_are_not_misread(tmp_path: Path) -> None:
    where, path = f"sqlite:///{tmp_path}/x.db", tmp_path / "x.db"
    bandit = Bandit(["a", "b"], "ucb1", store=where, name="x")
    bandit.reward(bandit.decide().id, 1.0)
    with sqlite3.connect(path) as other:
        other.execute(
            "INSERT INTO giro_events SELECT bandit, max(position) + 1, 99, NULL, 0, NULL, NULL,"
            " NULL FROM giro_events"
        )
    with pytest.raises(BadFile, match="an event of kind 99: a newer giro has written it"):
        bandit._follow()
    with pytest.raises(BadFile, match="a newer giro"):
        Bandit.open(where, "x")
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA user_version = 99")
    with pytest.raises(BadFile, match="its tables have version 99"):
        Bandit.open(where, "x")
    bandit._closed = True
    bandit._store.close()


def test_a_snapshot_of_a_giro_that_behaves_otherwise_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = f"sqlite:///{tmp_path}/x.db"
    with Bandit(["a", "b"], "thompson", store=where, name="x") as bandit:
        for i in range(10):
            bandit.reward(bandit.decide().id, float(i % 2))
        bandit._keep_snapshot()
        law = bandit.decide(id="q").propensities
    monkeypatch.setattr(live, "fingerprint", lambda *_: "another")
    with Bandit.open(where, "x") as again:
        assert again._state.live.learned == 10
        assert again.decide(id="r").propensities == law


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.db")), ids=lambda path: path.stem)
def test_databases_of_earlier_versions_are_read_and_go_on(path: Path, tmp_path: Path) -> None:
    shutil.copy(path, tmp_path / "x.db")
    with Bandit.open(f"sqlite:///{tmp_path}/x.db", "golden", clock=Clock()) as bandit:
        memory = Bandit.load(path.with_suffix(".giro"), clock=Clock())
        assert bandit.events().equals(memory.events())
        assert bandit.decide(id="q") == memory.decide(id="q")
        bandit.reward("q", 1.0)


def write_golden_database(version: int) -> None:
    """Write a database of this version, and the same bandit as a file; by hand, once a version."""
    where = f"sqlite:///{GOLDEN}/database-{version}.db"
    options = {"clock": Clock(), "ids": counted(), "name": "golden", "reward_wait": 50.0}
    options["reward_aggregation"] = "sum"
    with Bandit(["a", "b"], "giro", store=where, **options) as bandit:
        ids = [decision.id for decision in bandit.decide_many(12)]
        for i, id in enumerate(ids[:8]):
            bandit.reward(id, float(i % 2))
        options["clock"].now += 60.0
        bandit.keep()
        bandit.add_arm("c")
        bandit.decide()
        bandit.retire_arm("a")
        bandit.erase(ids[3:4])
        bandit._keep_snapshot()
        bandit.save(GOLDEN / f"database-{version}.giro")
