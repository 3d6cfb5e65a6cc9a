"""SQLite: full disks, other files, and databases of other versions."""

import sqlite3
from pathlib import Path

import pytest

from giro import BadFile, Bandit
from giro.bandit.stores._sql import SqlStore
from giro.errors import StoreError


def test_a_full_disk_loses_nothing_that_was_told(tmp_path: Path) -> None:
    where = f"sqlite:///{tmp_path}/x.db"
    with Bandit(["a", "b"], "thompson", store=where, name="x") as bandit:
        told = [bandit.decide().id]
        store = bandit._store
        assert isinstance(store, SqlStore)
        pool = store.database.pool
        full = store.database.connected()
        (pages,) = full.execute("PRAGMA page_count").fetchone()
        full.execute(f"PRAGMA max_page_count = {pages + 4}")
        pool._free.append(full)
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
