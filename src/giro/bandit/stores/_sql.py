"""SqlStore: the log of one bandit in the tables of a database."""

import contextlib
import io
import json
import time as clock
import weakref
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from giro.bandit.event import Decided, Event, EventRow, Rebuilt, event_of, row_of
from giro.bandit.stores._database import Database, let_go, marks, parts_of
from giro.bandit.stores._groups import Inserted, Request
from giro.bandit.stores._schema import (
    DECISION,
    ERASED,
    EVENT,
    REBUILT,
    REPORT,
    decision_in,
    found_in,
)
from giro.bandit.stores._watch import Subscriber
from giro.bandit.stores.store import FoundDecision, Snapshot, check_ids, ids_of
from giro.checks import WORD, check
from giro.errors import StoreError
from giro.files import pack_arrays, unpack_arrays

KEPT_SNAPSHOTS = 2
PART = 2**18  # bytes of a snapshot that are written at once
BREATH = 0.002  # seconds between parts, in which others get their turn


class SqlStore:
    """The log of one bandit in tables, with the promises of `Store`."""

    shared = True

    def __init__(self, database: Database, name: Any) -> None:
        """Open the bandit of this name, or a new one without events. The store owns the database.

        It is let go when the store is closed, or gone.
        """
        self.database = database
        self._let_go = weakref.finalize(self, let_go, database, id(self))
        self._let_go.atexit = False
        try:
            check("a bandit in a store", WORD, name=name)
            self.name: str = name
            self._bandit = database.bandit_of(name)
        except BaseException:
            self._end()
            raise
        self._groups = database.groups()

    def _query(self, query: str, *parameters: Any) -> list[Any]:
        return self.database.query(query, *parameters)

    # -- appending -----------------------------------------------------------------------------

    def append(self, events: Sequence[Event], *, expected: int | None = None) -> int:
        """Append all of these, or none."""
        check_ids(ids_of(events))
        if not events:
            return self.last() + 1
        return self._groups.append(Request(self._bandit, events, expected))

    # -- reading -------------------------------------------------------------------------------

    def last(self) -> int:
        """Return the position of the last event."""
        query = "SELECT max(position) FROM giro_events WHERE bandit = ?"
        return int(self._query(query, self._bandit)[0][0] or 0)

    def read(self, after: int, limit: int) -> list[Event]:
        """Return up to `limit` events behind a position."""
        query = f"SELECT {EVENT} FROM giro_events WHERE bandit = ? AND position > ?"
        rows = self._query(query + " ORDER BY position LIMIT ?", self._bandit, after, limit)
        return [event_of(EventRow(*row)) for row in rows]

    def find(self, ids: Sequence[str]) -> dict[str, FoundDecision]:
        """Return the decisions with these ids."""
        query = (
            "SELECT d.kind, d.id, d.time, d.value, d.data, r.kind, r.id, r.time, r.value, r.data,"
            " (SELECT count(*) FROM giro_events p WHERE p.bandit = d.bandit AND p.id = d.id"
            f" AND p.kind = {REPORT}) FROM giro_events d LEFT JOIN giro_events r"
            " ON r.bandit = d.bandit AND r.position = d.reward"
            f" WHERE d.bandit = ? AND d.kind = {DECISION} AND d.id IN "
        )
        decisions: dict[str, FoundDecision] = {}
        for part in parts_of(ids):
            rows = self._query(query + f"({marks(part)})", self._bandit, *part)
            decisions.update({row[1]: found_in(row) for row in rows})
        return decisions

    def reports(self, id: str) -> list[float]:
        """Return the values reported for a decision."""
        query = f"SELECT value FROM giro_events WHERE bandit = ? AND id = ? AND kind = {REPORT}"
        return [value for (value,) in self._query(query + " ORDER BY position", self._bandit, id)]

    def waiting(self, until: float) -> list[Decided]:
        """Return the decisions up to a time that have no reward."""
        query = (
            f"SELECT {EVENT} FROM giro_events WHERE bandit = ? AND kind = {DECISION}"
            " AND reward IS NULL AND time <= ? ORDER BY position"
        )
        return [decision_in(row) for row in self._query(query, self._bandit, until)]

    # -- following -----------------------------------------------------------------------------

    def wait(self, after: int, seconds: float) -> bool:
        """Return whether there are events behind `after`, within `seconds`."""
        return self.database.watch.wait(self._bandit, after, seconds)

    def subscribe(self, news: Callable[[], None], chores: Callable[[], None]) -> None:
        """Have `news` called when there is more to read, and `chores` every second."""
        methods = (weakref.WeakMethod(news), weakref.WeakMethod(chores))
        self.database.watch.subscribe(id(self), Subscriber(self._bandit, *methods))

    def is_keeper(self) -> bool:
        """Return whether this store holds the bandit's lease."""
        return self.database.leases.holds(self._bandit, id(self))

    # -- snapshots -----------------------------------------------------------------------------

    def keep(self, snapshot: Snapshot) -> None:
        """Keep a snapshot, and the one before.

        A large one is written in parts, each by itself, so that appends need not wait for all; it
        counts when the first part is there, which comes last.
        """
        whole, about = packed_arrays(snapshot.arrays), json.dumps(snapshot.about)
        key = (self._bandit, snapshot.position)
        arrays, *parts = (whole[i : i + PART] for i in range(0, len(whole), PART))
        query = "INSERT INTO giro_parts VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
        for number, part in enumerate(parts):
            self._write_aside((query, *key, number, part))
            clock.sleep(BREATH)
        insert = (
            "INSERT INTO giro_snapshots SELECT ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM"
            f" giro_events WHERE bandit = ? AND position > ? AND kind = {REBUILT})"
            " ON CONFLICT (bandit, position) DO NOTHING"
        )
        delete = (
            "DELETE FROM giro_snapshots WHERE bandit = ? AND position NOT IN (SELECT position"
            " FROM giro_snapshots WHERE bandit = ? ORDER BY position DESC LIMIT ?)"
        )
        self._write_aside(
            (insert, *key, about, arrays, *key),
            (delete, self._bandit, self._bandit, KEPT_SNAPSHOTS),
        )
        self._forget_parts()

    def _write_aside(self, *queries: Sequence[Any]) -> None:
        with self.database.errors(), self.database.aside() as connection:
            for query, *parameters in queries:
                self.database.ask(connection, query, *parameters)

    def _forget_parts(self) -> None:
        """Remove parts of snapshots that are gone, one by one."""
        query = (
            "SELECT position, part FROM giro_parts WHERE bandit = ? AND position NOT IN"
            " (SELECT position FROM giro_snapshots WHERE bandit = ?)"
        )
        delete = "DELETE FROM giro_parts WHERE bandit = ? AND position = ? AND part = ?"
        for position, part in self._query(query, self._bandit, self._bandit):
            self._write_aside((delete, self._bandit, position, part))
            clock.sleep(BREATH)

    def snapshots(self) -> list[Snapshot]:
        """Return the snapshots, the newest first."""
        query = "SELECT position, about, arrays FROM giro_snapshots WHERE bandit = ?"
        parts = "SELECT data FROM giro_parts WHERE bandit = ? AND position = ? ORDER BY part"
        snapshots = []
        for position, about, arrays in self._query(query + " ORDER BY position DESC", self._bandit):
            rest = self._query(parts, self._bandit, position)
            whole = b"".join([bytes(arrays), *(bytes(data) for (data,) in rest)])
            snapshots.append(snapshot_of(position, about, whole))
        return [snapshot for snapshot in snapshots if snapshot is not None]

    # -- erasing -------------------------------------------------------------------------------

    def erase(self, ids: Sequence[str], time: float) -> int:
        """Put `Erased` in place of everything about these decisions."""
        database, bandit, gone = self.database, self._bandit, 0
        with self._groups.alone(), database.errors(), database.writing(bandit) as connection:
            for part in parts_of(ids):
                query = (
                    "UPDATE giro_events SET kind = ?, id = NULL, value = NULL, data = NULL,"
                    f" reward = NULL WHERE bandit = ? AND position IN ({_positions(part)})"
                )
                parameters = (ERASED, bandit, *(bandit, *part) * 3)
                gone += database.ask(connection, query, *parameters).rowcount
            if gone:
                for table in ("giro_parts", "giro_snapshots"):
                    database.ask(connection, f"DELETE FROM {table} WHERE bandit = ?", bandit)
                position = database.last(connection, bandit) + 1
                database.insert(connection, bandit, [Inserted(position, row_of(Rebuilt(time)))])
        if gone:
            database.overwrite()
        return gone

    def close(self) -> None:
        """Give back the lease, and close the database if this was its last store."""
        if self._let_go.alive:
            try:
                with contextlib.suppress(StoreError):  # the lease ends by itself
                    self.database.leases.give_back(self._bandit, id(self))
            finally:
                self._end()

    def _end(self) -> None:
        if self._let_go():
            self.database.close()


def _positions(ids: Sequence[str]) -> str:
    """Return a query for the positions of all events about decisions. Each part has an index.

    Its parameters are three times the bandit and the ids.
    """
    of_ids = f"FROM giro_events WHERE bandit = ? AND id IN ({marks(ids)}) AND kind ="
    return (
        f"SELECT position {of_ids} {DECISION} UNION ALL SELECT position {of_ids} {REPORT}"
        f" UNION ALL SELECT reward {of_ids} {DECISION} AND reward IS NOT NULL"
    )


def packed_arrays(arrays: dict[str, np.ndarray]) -> bytes:
    """Return arrays as bytes, without pickle."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as parts:
        pack_arrays(parts, arrays)
    return buffer.getvalue()


def snapshot_of(position: int, about: str, arrays: bytes) -> Snapshot | None:
    """Return a snapshot, None if it is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(arrays)) as parts:
            return Snapshot(position, json.loads(about), unpack_arrays(parts))
    except (ValueError, KeyError, zipfile.BadZipFile):
        return None
