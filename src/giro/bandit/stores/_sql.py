"""SqlStore: the log of one bandit in the tables of a database."""

import contextlib
import time as clock
import weakref
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

from giro.bandit.event import (
    Decided,
    Event,
    EventRow,
    Left,
    Rebuilt,
    Reported,
    event_of,
    row_of,
)
from giro.bandit.stores._database import IDS, Database, let_go, marks, parts_of
from giro.bandit.stores._groups import Inserted, Request
from giro.bandit.stores._packed import PackedSnapshot
from giro.bandit.stores._schema import (
    DECISION,
    ERASED,
    EVENT,
    REBUILT,
    REPORT,
    STAYING,
    decision_in,
    found_in,
    report_in,
)
from giro.bandit.stores._watch import Subscriber
from giro.bandit.stores.store import (
    DEPTH,
    Appended,
    FoundDecision,
    Gone,
    Milestone,
    Snapshot,
    check_ids,
    ids_of,
)
from giro.checks import WORD, check
from giro.errors import BadFile, StoreError

KEPT_SNAPSHOTS = 2
PART = 2**18  # bytes of a snapshot that are written at once
BREATH = 0.002  # seconds between parts, in which others get their turn
_BASE = "(SELECT base FROM giro_bandits WHERE bandit = ?)"


class SqlStore:
    """The log of one bandit in tables, with the promises of `Store`."""

    shared = True

    def __init__(self, database: Database, name: Any) -> None:
        """Open the bandit of this name, or a new one without events. The store owns the database.

        It is let go when the store is closed, or gone.
        """
        self.database = database
        self._is_open = True
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

    def append(
        self, events: Sequence[Event], *, expected: int | None = None, known: int | None = None
    ) -> Appended:
        """Append all of these, or none."""
        check_ids(ids_of(events))
        if not events:
            last = self.last()
            return Appended(last + 1, last, ())
        return self._groups.append(Request(self._bandit, events, expected, known))

    # -- reading -------------------------------------------------------------------------------

    def last(self) -> int:
        """Return the position of the last event."""
        query = "SELECT max(position) FROM giro_events WHERE bandit = ?"
        return int(self._query(query, self._bandit)[0][0] or 0)

    def read(self, after: int, limit: int) -> list[Event]:
        """Return up to `limit` events behind a position."""
        rows = self._rows(after, limit)
        if rows and rows[0][6] > after:
            raise Gone(rows[0][6])
        return [event_of(EventRow(*row[:5])) for row in rows]

    def rows(self, after: int, limit: int) -> list[tuple[int, Event]]:
        """Return up to `limit` events behind a position that are left."""
        return [(row[5], event_of(EventRow(*row[:5]))) for row in self._rows(after, limit)]

    def _rows(self, after: int, limit: int) -> list[Any]:
        """Return rows of events, each with its position and that of the base."""
        query = (
            f"SELECT {EVENT}, position, {_BASE}"
            " FROM giro_events WHERE bandit = ? AND position > ? ORDER BY position LIMIT ?"
        )
        return self._query(query, self._bandit, self._bandit, after, limit)

    def latest(self, before: int, limit: int, kinds: Sequence[int] = ()) -> list[tuple[int, Event]]:
        """Return up to `limit` events ahead of a position, the newest first."""
        among = f" AND kind IN ({marks(kinds)})" if kinds else ""
        query = (
            f"SELECT {EVENT}, position FROM giro_events WHERE bandit = ? AND position < ?"
            f" AND position >= ?{among} ORDER BY position DESC LIMIT ?"
        )
        rows = self._query(query, self._bandit, before, before - DEPTH, *kinds, limit)
        return [(row[5], event_of(EventRow(*row[:5]))) for row in rows]

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

    def reports(self, id: str) -> list[Reported]:
        """Return the reports about a decision."""
        query = f"SELECT {EVENT} FROM giro_events WHERE bandit = ? AND id = ? AND kind = {REPORT}"
        rows = self._query(query + " ORDER BY position", self._bandit, id)
        return [report_in(row) for row in rows]

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

    def subscribe(self, news: Callable[[int], None], chores: Callable[[], None]) -> None:
        """Have `news` called when there is more to read, and `chores` every second."""
        methods = (weakref.WeakMethod(news), weakref.WeakMethod(chores))
        self.database.watch.subscribe(id(self), Subscriber(self._bandit, *methods))

    def is_keeper(self) -> bool:
        """Return whether this store holds the bandit's lease."""
        leases = self.database.leases
        with leases.lock:  # chores of a store may begin while it is closed
            return self._is_open and leases.holds(self._bandit, id(self))

    # -- snapshots -----------------------------------------------------------------------------

    def keep(self, snapshot: Snapshot, milestone: Milestone | None = None) -> None:
        """Keep a snapshot, the one before, and milestones.

        A large one is written in parts, each by itself, so that appends need not wait for all; it
        counts when the first part is there, which comes last.
        """
        _, about, whole = PackedSnapshot.of(snapshot)
        key = (self._bandit, snapshot.position)
        arrays, *parts = (whole[i : i + PART] for i in range(0, len(whole), PART))
        query = "INSERT INTO giro_parts VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
        for number, part in enumerate(parts):
            self._write_aside((query, *key, number, part))
            clock.sleep(BREATH)
        insert = (
            "INSERT INTO giro_snapshots SELECT ?, ?, ?, ?, CAST(? AS DOUBLE PRECISION),"
            " CAST(? AS BIGINT) WHERE NOT EXISTS (SELECT 1 FROM"
            f" giro_events WHERE bandit = ? AND position > ? AND kind = {REBUILT})"
            " ON CONFLICT (bandit, position) DO UPDATE SET"
            " time = coalesce(giro_snapshots.time, excluded.time),"
            " rewards = coalesce(giro_snapshots.rewards, excluded.rewards)"
        )
        delete = (
            "DELETE FROM giro_snapshots WHERE bandit = ? AND time IS NULL AND position NOT IN"
            " (SELECT position FROM giro_snapshots WHERE bandit = ? ORDER BY position DESC LIMIT ?)"
        )
        passed = (None, None) if milestone is None else milestone[1:]
        self._write_aside(
            (insert, *key, about, arrays, *passed, *key),
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
        query = "SELECT position FROM giro_snapshots WHERE bandit = ? ORDER BY position DESC"
        positions = self._query(f"{query} LIMIT ?", self._bandit, KEPT_SNAPSHOTS)
        snapshots = (self._snapshot_at(position) for (position,) in positions)
        return [snapshot for snapshot in snapshots if snapshot is not None]

    def _snapshot_at(self, position: int) -> Snapshot | None:
        """Return the snapshot of a position, None if it is damaged or gone."""
        query = "SELECT about, arrays FROM giro_snapshots WHERE bandit = ? AND position = ?"
        parts = "SELECT data FROM giro_parts WHERE bandit = ? AND position = ? ORDER BY part"
        for about, arrays in self._query(query, self._bandit, position):
            rest = self._query(parts, self._bandit, position)
            whole = b"".join([bytes(arrays), *(bytes(data) for (data,) in rest)])
            with contextlib.suppress(ValueError, KeyError, zipfile.BadZipFile):
                return PackedSnapshot(position, about, whole).unpacked()
        return None

    # -- events that leave ---------------------------------------------------------------------

    def base(self) -> Snapshot | None:
        """Return the snapshot behind the events that left."""
        position = self._base()
        if position == 0:
            return None
        snapshot = self._snapshot_at(position)
        if snapshot is None and self._base() == position:
            raise BadFile(f"the snapshot of '{self.name}' at {position} is damaged")
        return snapshot or self.base()

    def _base(self) -> int:
        query = "SELECT base FROM giro_bandits WHERE bandit = ?"
        return int(self._query(query, self._bandit)[0][0])

    def milestones(self) -> list[Milestone]:
        """Return the milestones behind the base."""
        query = (
            "SELECT position, time, rewards FROM giro_snapshots WHERE bandit = ?"
            " AND time IS NOT NULL AND position > ? ORDER BY position"
        )
        return [Milestone(*row) for row in self._query(query, self._bandit, self._base())]

    def leave(self, position: int, time: float) -> bool:
        """Make a milestone the base, then remove events a few at a time while others append."""
        database, bandit = self.database, self._bandit
        query = (
            "UPDATE giro_bandits SET base = ? WHERE bandit = ? AND base < ? AND EXISTS (SELECT 1"
            " FROM giro_snapshots WHERE bandit = ? AND position = ? AND time IS NOT NULL)"
        )
        older = "DELETE FROM giro_snapshots WHERE bandit = ? AND position < ?"
        with self._groups.alone(), database.errors(), database.writing(bandit) as connection:
            key = (position, bandit, position, bandit, position)
            is_there = bool(database.ask(connection, query, *key).rowcount)
            if is_there:
                database.ask(connection, older, bandit, position)
                last = database.last(connection, bandit)
                row = Inserted(last + 1, row_of(Left(time, position)))
                database.insert(connection, bandit, [row])
        if is_there:
            self._remove_events(position)
            self._forget_parts()
        return is_there

    def _remove_events(self, base: int) -> None:
        """Remove events that left, decisions before their rewards and reports."""
        query = (
            "SELECT position FROM giro_events e WHERE bandit = ? AND position > ? AND position <= ?"
            f" AND kind NOT IN ({', '.join(map(str, STAYING))}) AND"
            f" NOT (kind = {DECISION} AND (reward IS NULL OR reward > ?)) AND NOT (kind = {REPORT}"
            " AND EXISTS (SELECT 1 FROM giro_events d WHERE d.bandit = e.bandit AND d.id = e.id"
            f" AND d.kind = {DECISION})) ORDER BY position LIMIT {IDS}"
        )
        after = 0
        while rows := self._query(query, self._bandit, after, base, base):
            positions = [position for (position,) in rows]
            after = positions[-1]
            delete = "DELETE FROM giro_events WHERE bandit = ? AND position IN "
            self._write_aside((delete + f"({marks(positions)})", self._bandit, *positions))
            clock.sleep(BREATH)

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
                    query = f"DELETE FROM {table} WHERE bandit = ? AND position <> {_BASE}"
                    database.ask(connection, query, bandit, bandit)
                position = database.last(connection, bandit) + 1
                database.insert(connection, bandit, [Inserted(position, row_of(Rebuilt(time)))])
        if gone:
            database.overwrite()
        return gone

    def close(self) -> None:
        """Give back the lease, and close the database if this was its last store."""
        if self._let_go.alive:
            with self.database.leases.lock:
                self._is_open = False
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
