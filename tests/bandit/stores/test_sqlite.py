"""SQLite: full disks, other files, and databases of other versions."""

import contextlib
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from bandit.stores.events import decided

from giro import BadFile, Bandit
from giro.bandit.stores import Taken, opened, sqlite
from giro.bandit.stores._queue import Queue
from giro.bandit.stores._sql import SqlStore
from giro.bandit.stores._watch import Watch
from giro.errors import StoreError


def test_a_full_disk_loses_nothing_that_was_told(tmp_path: Path) -> None:
    where = f"sqlite:///{tmp_path}/x.db"
    with Bandit(["a", "b"], "thompson", store=where, name="x") as bandit:
        told = [bandit.decide().id]
        store = bandit._store
        assert isinstance(store, SqlStore)
        pool = store.database.pool
        connected = pool._make
        made = [connected()]
        (pages,) = made[0].execute("PRAGMA page_count").fetchone()

        def on_a_full_disk() -> sqlite3.Connection:
            made.append(connected())
            made[-1].execute(f"PRAGMA max_page_count = {pages + 4}")
            return made[-1]

        pool._make = on_a_full_disk  # the background has connections, too
        with pytest.raises(StoreError, match="disk is full"):
            for _ in range(1_000):
                pool.close()
                told.append(bandit.decide().id)
        pool._make = connected
        for connection in made:
            with contextlib.suppress(sqlite3.ProgrammingError):  # it is closed
                connection.execute("PRAGMA max_page_count = 1073741823")
        before = bandit.n_decisions
        told.append(bandit.decide().id)  # there is room again
        assert bandit.n_decisions == before + 1
        made[0].close()
    with Bandit.open(where, "x") as again:
        assert [decision.id for decision in again.pending()] == told
        assert sum(n for _, n in bandit._state.cold_start.to_json()["unrewarded"]) == len(told)


def test_a_new_file_waits_for_others_who_look_into_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    other.execute("CREATE TABLE t (x)")
    other.execute("BEGIN")
    other.execute("SELECT * FROM t").fetchall()
    looks: list[float] = []

    def look_away(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 3:
            other.execute("COMMIT")

    monkeypatch.setattr("time.sleep", look_away)
    monkeypatch.setattr(sqlite, "_PATIENCE", 0.05)
    connection = sqlite.SqliteDatabase(str(tmp_path / "x.db")).connected()
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert len(looks) == 3
    connection.close()
    other.close()


@pytest.mark.parametrize("path", ["/dev/null/x.db", "/proc/x.db"])
def test_a_place_where_nothing_can_be_written_is_a_clear_error(path: str) -> None:
    with pytest.raises(StoreError, match=r"the store .*x\.db fails: "):
        Bandit(["a", "b"], "thompson", store=f"sqlite:///{path}", name="x")


def test_a_file_of_something_else_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"something else, longer than a header" * 100)
    with pytest.raises(StoreError, match="not a database"):
        Bandit(["a", "b"], "thompson", store=f"sqlite:///{tmp_path}/x.db", name="x")


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
        bandit._follower.follow()
    with pytest.raises(BadFile, match="a newer giro"):
        Bandit.open(where, "x")
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA user_version = 99")
    with pytest.raises(BadFile, match="its tables have version 99"):
        Bandit.open(where, "x")
    bandit._follower.closed = True
    bandit._store.close()


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_deleted_while_it_is_open_is_noticed(tmp_path: Path, replaced: bool) -> None:
    store = opened(f"sqlite:///{tmp_path}/x.db", "x")
    store.append([decided("a")])
    for path in tmp_path.glob("x.db*"):
        path.unlink()
    if replaced:
        (tmp_path / "x.db").write_bytes(b"")
    with pytest.raises(StoreError, match=r"x\.db was (deleted|replaced) while it was open"):
        store.append([decided("b")])
    store.close()


def test_the_log_is_synced_before_an_append_returns_and_not_in_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, synced = Queue(f"{tmp_path}/x.db"), list[str]()

    def sync(file: int) -> None:
        with other.turn():  # another process may write
            synced.append(os.path.realpath(f"/proc/self/fd/{file}"))

    monkeypatch.setattr(sqlite, "_sync", sync)
    store = opened(f"sqlite:///{tmp_path}/x.db", "x")
    for n in range(3):
        synced.clear()
        store.append([decided(f"{n}")])
        assert len(synced) == 1
    if os.path.exists("/proc/self/fd"):
        assert synced == [os.path.realpath(tmp_path / "x.db-wal")]
    with pytest.raises(Taken):
        store.append([decided("1")])  # what it is taken by is durable, too
    assert len(synced) == 2
    store.close()
    other.close()


def test_a_sync_that_fails_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opened(f"sqlite:///{tmp_path}/x.db", "x")

    def fail(file: int) -> None:
        raise OSError("no disk")

    with monkeypatch.context() as patch:
        patch.setattr(sqlite, "_sync", fail)
        with pytest.raises(StoreError, match="no disk"):
            store.append([decided("a")])
    store.append([decided("b")])
    store.close()


def test_a_new_log_is_synced_when_sqlite_has_begun_one(tmp_path: Path) -> None:
    store: Any = opened(f"sqlite:///{tmp_path}/x.db", "x")
    store.append([decided("a")])
    old = store.database._log.file
    store.database.pool.close()  # SQLite removes the log
    store.append([decided("b")])
    assert os.fstat(store.database._log.file).st_ino == os.stat(f"{tmp_path}/x.db-wal").st_ino
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(old) if old != store.database._log.file else os.close(-1)
    store.close()


def test_a_log_that_another_thread_replaces_is_open_until_it_is_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Bandit(["a", "b"], "thompson", store=f"sqlite:///{tmp_path}/x.db", name="x") as bandit:
        bandit.decide()
        store = bandit._store
        assert isinstance(store, SqlStore)
        database = store.database
        assert isinstance(database, sqlite.SqliteDatabase)
        status, synced = os.fstat, list[int]()

        def meanwhile(file: int) -> os.stat_result:
            database._log = None
            return status(file)

        monkeypatch.setattr(os, "fstat", meanwhile)
        monkeypatch.setattr(sqlite, "_sync", lambda file: synced.append(status(file).st_size))
        database.sync()
        assert synced


def test_the_write_ahead_log_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_CHECKPOINT", 20)
    monkeypatch.setattr(Watch, "hurry", lambda self: None)
    store: Any = opened(f"sqlite:///{tmp_path}/x.db", "x")
    sizes = []
    for n in range(200):
        store.append([decided(f"{n}")])
        store.database.do_chores()
        sizes.append(os.path.getsize(f"{tmp_path}/x.db-wal"))
    assert sizes[-1] == sizes[40]
    store.close()
