"""Stores in databases: what they share is all but connections, locks and news of other writers."""

import contextlib
import io
import json
import os
import threading
import time as clock
import weakref
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from giro.bandit.event import (
    DECISION,
    KINDS,
    Decided,
    Event,
    EventRow,
    Formed,
    Rebuilt,
    Reported,
    Rewarded,
    event_of,
    row_of,
)
from giro.bandit.stores.store import FoundDecision, Snapshot, Taken, ids_of, taken
from giro.checks import WORD, check
from giro.errors import BadFile
from giro.files import pack_arrays, unpack_arrays

KEPT_SNAPSHOTS = 2
FORM, REPORT, ERASED = (KINDS.index(kind) for kind in ("form", "report", "erased"))
IDS = 500  # in one query
EVENT = "kind, id, time, value, data"
MAX_GROUP = 1000  # requests in one transaction

_LEFT_BEHIND: list[Any] = []  # connections of a parent process: never used, never closed
_POOLS: "weakref.WeakSet[Connections[Any]]" = weakref.WeakSet()

# What tables hold, in the order of versions; a database of an older one runs those behind it.
# {blob}, {real} are the database's words for types, {key} an ascending number.
MIGRATIONS = (
    """
    CREATE TABLE giro_bandits (bandit {key}, name TEXT NOT NULL UNIQUE);
    CREATE TABLE giro_events (
        bandit BIGINT NOT NULL, position BIGINT NOT NULL, kind SMALLINT NOT NULL, id TEXT,
        time {real} NOT NULL, value {real}, data {blob}, reward BIGINT,
        PRIMARY KEY (bandit, position));
    CREATE UNIQUE INDEX giro_decisions ON giro_events (bandit, id) WHERE kind = 4;
    CREATE INDEX giro_reports ON giro_events (bandit, id) WHERE kind = 5;
    CREATE INDEX giro_waiting ON giro_events (bandit, time) WHERE kind = 4 AND reward IS NULL;
    CREATE TABLE giro_snapshots (
        bandit BIGINT NOT NULL, position BIGINT NOT NULL, about TEXT NOT NULL,
        arrays {blob} NOT NULL, PRIMARY KEY (bandit, position));
    CREATE TABLE giro_keepers (bandit BIGINT PRIMARY KEY, who TEXT NOT NULL, until {real} NOT NULL);
    """,
    """
    CREATE TABLE giro_parts (
        bandit BIGINT NOT NULL, position BIGINT NOT NULL, part BIGINT NOT NULL,
        data {blob} NOT NULL, PRIMARY KEY (bandit, position, part));
    """,
)
VERSION = len(MIGRATIONS)
PART = 2**18  # bytes of a snapshot that are written at once
BREATH = 0.002  # seconds between parts, in which others get their turn


def statements(script: str) -> list[str]:
    """Return the statements of a script one by one."""
    return [statement for statement in script.split(";") if statement.strip()]


def check_version(found: int) -> None:
    """Check that this giro knows the version of a database."""
    if found > VERSION:
        raise BadFile(
            f"the database was changed by a newer giro: its tables have version {found}, "
            f"this giro knows versions up to {VERSION}"
        )


# -- groups ----------------------------------------------------------------------------------


class Inserted(NamedTuple):
    """A row to insert at a position; `reward` is that of a decision's reward in the same group."""

    position: int
    row: EventRow
    reward: int | None = None


class Numbered(NamedTuple):
    """What a group changes: rows to insert, and the rewards of decisions that were there before."""

    rows: list[Inserted]
    rewards: dict[str, int]  # a decision's id: the position of its reward


class Request:
    """Events that somebody wants to append, and what came of it."""

    def __init__(self, events: Sequence[Event]) -> None:
        """Begin without an answer."""
        self.events, self.done = events, False
        self.first = 0
        self.error: BaseException | None = None


class Head(NamedTuple):
    """What a log says before a group is appended."""

    position: int
    waiting: dict[str, bool]  # of the group's decisions that there are, whether they wait
    forms: int


class Groups:
    """Lets threads share transactions: the first commits for all who came while it waited."""

    def __init__(self, commit: Callable[[list[Request]], None]) -> None:
        """Remember what appends a group, and sets each request's answer."""
        self._commit = commit
        self.renew()

    def renew(self) -> None:
        """Begin with nobody waiting: in a child process, whose parent's threads are not here."""
        self._queue: list[Request] = []
        self._writing = threading.Lock()

    def append(self, events: Sequence[Event]) -> int:
        """Return the position of the first event, when all are durable."""
        request = Request(events)
        self._queue.append(request)
        with self._writing:
            while not request.done:
                group = self._queue[:MAX_GROUP]
                del self._queue[: len(group)]
                try:
                    self._commit(group)
                except BaseException as error:
                    for each in group:
                        each.error = error
                finally:
                    for each in group:
                        each.done = True
        if request.error is not None:
            raise request.error
        return request.first

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Let nobody else write."""
        with self._writing:
            yield


def numbered(group: Iterable[Request], head: Head) -> Numbered:
    """Return the rows of all requests that can be appended; the others get their error."""
    rows: list[EventRow] = []
    rewards: dict[str | None, int] = {}
    waiting, forms = head.waiting, head.forms
    for request in group:
        events = request.events
        now = {id: waiting[id] for id in ids_of(events) if id in waiting}
        first_taken = taken(events, now, forms=forms)
        if first_taken is not None:
            request.error = Taken(first_taken)
            continue
        waiting.update(now)
        forms += sum(isinstance(event, Formed) for event in events)
        request.first = head.position + len(rows) + 1
        for event in events:
            rows.append(row_of(event))
            if isinstance(event, Rewarded):
                rewards[event.id] = head.position + len(rows)
    inserted = [
        Inserted(position, row, rewards.pop(row.id, None) if row.kind == DECISION else None)
        for position, row in enumerate(rows, head.position + 1)
    ]
    return Numbered(inserted, {str(id): position for id, position in rewards.items()})


def hoped(group: Iterable[Request]) -> Head:
    """Return what an empty log must say so that a group can be appended, if it can be at all."""
    waiting: dict[str, bool] = {}
    decided: set[str] = set()
    for event in (event for request in group for event in request.events):
        if isinstance(event, Decided):
            decided.add(event.id)
        elif isinstance(event, Rewarded | Reported) and event.id not in decided:
            waiting[event.id] = True
    return Head(0, waiting, forms=0)


def wants_form(group: Iterable[Request]) -> bool:
    """Tell whether a group fixes a form."""
    return any(isinstance(event, Formed) for request in group for event in request.events)


# -- snapshots -------------------------------------------------------------------------------


def packed_arrays(arrays: dict[str, np.ndarray]) -> bytes:
    """Return arrays as bytes, without pickle."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as parts:
        pack_arrays(parts, arrays)
    return buffer.getvalue()


def snapshot_of(position: int, about: str, arrays: bytes) -> Snapshot | None:
    """Return a snapshot, None if it is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(arrays)) as parts:
            return Snapshot(position, json.loads(about), unpack_arrays(parts))
    except (ValueError, KeyError, zipfile.BadZipFile):
        return None


# -- connections -----------------------------------------------------------------------------


class Connection(Protocol):
    """What can be closed."""

    def close(self) -> None:
        """Close it."""


C = TypeVar("C", bound=Connection)


class Connections(Generic[C]):
    """Connections for reading, made when needed and used again; a child process makes its own."""

    def __init__(self, make: Callable[[], C], renew: Callable[[], None]) -> None:
        """Remember how to make one, and what else to do in a child process."""
        self.make, self._renew = make, renew
        self._free: list[C] = []
        _POOLS.add(self)

    @contextlib.contextmanager
    def one(self) -> Iterator[C]:
        """Lend a connection; after an error it is closed, as it may be broken."""
        try:
            connection = self._free.pop()
        except IndexError:
            connection = self.make()
        try:
            yield connection
        except BaseException:
            with contextlib.suppress(Exception):
                connection.close()
            raise
        self._free.append(connection)

    def close(self) -> None:
        """Close those that nobody uses."""
        while self._free:
            with contextlib.suppress(Exception):
                self._free.pop().close()

    def forked(self) -> None:
        """Leave the parent's connections alone."""
        _LEFT_BEHIND.extend(self._free)
        self._free = []
        self._renew()


def _forked() -> None:
    for pool in list(_POOLS):
        pool.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def left_behind(connection: Any) -> None:
    """Keep a parent's connection, so that it is never closed."""
    if connection is not None:
        _LEFT_BEHIND.append(connection)


def decision_in(row: Sequence[Any]) -> Decided:
    """Return the decision in a row."""
    event = event_of(EventRow(*row))
    if not isinstance(event, Decided):
        raise BadFile(f"expected a decision, the log has {event}")
    return event


def found_in(row: Sequence[Any]) -> FoundDecision:
    """Return a decision and its reward, from the columns of both and the number of reports."""
    reward = None if row[5] is None else event_of(EventRow(*row[5:10]))
    if reward is not None and not isinstance(reward, Rewarded):
        raise BadFile(f"expected a reward, the log has {reward}")
    return FoundDecision(decision_in(row[:5]), reward, row[10])


# -- the store -------------------------------------------------------------------------------


class SqlStore(ABC):
    """The log of one bandit in tables; see `Store` for what is promised.

    Queries mark parameters by `?`; `_text` turns them into what the database reads.
    """

    shared = True

    def __init__(self, name: Any) -> None:
        """Prepare for a bandit of this name; who inherits then sets `_bandit`."""
        check("a bandit in a store", WORD, name=name)
        self.name: str = name
        self._groups = Groups(self._commit)
        self._readers: Connections[Any] = Connections(self._connected, self._forked)
        self._bandit = 0

    @abstractmethod
    def _connected(self) -> Any:
        """Return a new connection."""

    @abstractmethod
    def _forked(self) -> None:
        """Leave everything of the parent process alone."""

    @abstractmethod
    def _store_errors(self) -> AbstractContextManager[None]:
        """Turn what goes wrong outside into a `StoreError`."""

    @abstractmethod
    def _writing(self) -> AbstractContextManager[Any]:
        """Lend a connection on which all or nothing is written, while nobody else writes."""

    @contextlib.contextmanager
    def _aside(self) -> Iterator[Any]:
        """Lend one for what takes long, where the database lets others append meanwhile."""
        with self._groups.alone(), self._writing() as connection:
            yield connection

    @abstractmethod
    def _insert(self, connection: Any, rows: Sequence[Inserted]) -> None:
        """Insert rows, and let followers know."""

    def _text(self, query: str) -> Any:
        return query

    def _ask(self, connection: Any, query: str, *parameters: Any) -> Any:
        return connection.execute(self._text(query), parameters)

    def _query(self, query: str, *parameters: Any) -> list[Any]:
        with self._store_errors(), self._readers.one() as connection:
            return list(self._ask(connection, query, *parameters).fetchall())

    def _made(self, connection: Any, version: int, types: Mapping[str, str]) -> None:
        """Bring tables up to date, and see to it that there is the bandit."""
        check_version(version)
        for script in MIGRATIONS[version:]:
            for statement in statements(script.format_map(types)):
                self._ask(connection, statement)
        query = "INSERT INTO giro_bandits (name) VALUES (?) ON CONFLICT (name) DO NOTHING"
        self._ask(connection, query, self.name)
        query = "SELECT bandit FROM giro_bandits WHERE name = ?"
        (self._bandit,) = self._ask(connection, query, self.name).fetchone()

    # appending

    def append(self, events: Sequence[Event]) -> int:
        """Append all of these, or none."""
        return self._groups.append(events)

    def _commit(self, group: list[Request]) -> None:
        with self._store_errors(), self._writing() as connection:
            rows, rewards = numbered(group, self._head(connection, group))
            if not rows:
                return
            self._insert(connection, rows)
            query = "UPDATE giro_events SET reward = ? WHERE bandit = ? AND id = ? AND kind = 4"
            if rewards:
                their = [(position, self._bandit, id) for id, position in rewards.items()]
                connection.cursor().executemany(self._text(query), their)

    def _head(self, connection: Any, group: list[Request]) -> Head:
        ids = list({id for request in group for id in ids_of(request.events)})
        waiting: dict[str, bool] = {}
        for part in parts_of(ids):
            query = "SELECT id, reward IS NULL FROM giro_events WHERE bandit = ? AND kind = 4 AND "
            found = self._ask(connection, query + f"id IN ({marks(part)})", self._bandit, *part)
            waiting.update({id: bool(waits) for id, waits in found.fetchall()})
        query = "SELECT count(*) FROM giro_events WHERE bandit = ? AND kind = ?"
        forms = 0
        if wants_form(group):
            forms = int(self._ask(connection, query, self._bandit, FORM).fetchone()[0])
        return Head(self._last(connection), waiting, forms)

    def _last(self, connection: Any) -> int:
        query = "SELECT max(position) FROM giro_events WHERE bandit = ?"
        return int(self._ask(connection, query, self._bandit).fetchone()[0] or 0)

    # reading

    def last(self) -> int:
        """Return the position of the last event."""
        with self._store_errors(), self._readers.one() as connection:
            return self._last(connection)

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
            " AND p.kind = 5) FROM giro_events d LEFT JOIN giro_events r"
            " ON r.bandit = d.bandit AND r.position = d.reward"
            " WHERE d.bandit = ? AND d.kind = 4 AND d.id IN "
        )
        found: dict[str, FoundDecision] = {}
        for part in parts_of(ids):
            rows = self._query(query + f"({marks(part)})", self._bandit, *part)
            found.update({row[1]: found_in(row) for row in rows})
        return found

    def reports(self, id: str) -> list[float]:
        """Return the values reported for a decision."""
        query = "SELECT value FROM giro_events WHERE bandit = ? AND id = ? AND kind = 5"
        return [value for (value,) in self._query(query + " ORDER BY position", self._bandit, id)]

    def waiting(self, until: float) -> list[Decided]:
        """Return the decisions up to a time that have no reward."""
        query = (
            f"SELECT {EVENT} FROM giro_events"
            " WHERE bandit = ? AND kind = 4 AND reward IS NULL AND time <= ? ORDER BY position"
        )
        return [decision_in(row) for row in self._query(query, self._bandit, until)]

    # the rest

    def keep(self, snapshot: Snapshot) -> None:
        """Keep a snapshot, and the one before.

        A large one is written in parts, each by itself, so that appends need not wait for all; it
        counts when the first part is there, which comes last.
        """
        whole, about = packed_arrays(snapshot.arrays), json.dumps(snapshot.about)
        its = (self._bandit, snapshot.position)
        arrays, *parts = (whole[i : i + PART] for i in range(0, len(whole), PART))
        query = "INSERT INTO giro_parts VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
        for number, part in enumerate(parts):
            with self._store_errors(), self._aside() as connection:
                self._ask(connection, query, *its, number, part)
            clock.sleep(BREATH)
        with self._store_errors(), self._aside() as connection:
            query = (
                "INSERT INTO giro_snapshots SELECT ?, ?, ?, ? WHERE NOT EXISTS"
                " (SELECT 1 FROM giro_events WHERE bandit = ? AND position > ? AND kind = 9)"
                " ON CONFLICT (bandit, position) DO NOTHING"
            )
            self._ask(connection, query, *its, about, arrays, *its)
            query = (
                "DELETE FROM giro_snapshots WHERE bandit = ? AND position NOT IN (SELECT position"
                " FROM giro_snapshots WHERE bandit = ? ORDER BY position DESC LIMIT ?)"
            )
            self._ask(connection, query, self._bandit, self._bandit, KEPT_SNAPSHOTS)
        self._forget_parts()

    def _forget_parts(self) -> None:
        """Remove parts of snapshots that are gone, one by one."""
        query = (
            "SELECT position, part FROM giro_parts WHERE bandit = ? AND position NOT IN"
            " (SELECT position FROM giro_snapshots WHERE bandit = ?)"
        )
        gone = "DELETE FROM giro_parts WHERE bandit = ? AND position = ? AND part = ?"
        for position, part in self._query(query, self._bandit, self._bandit):
            with self._store_errors(), self._aside() as connection:
                self._ask(connection, gone, self._bandit, position, part)
            clock.sleep(BREATH)

    def snapshots(self) -> list[Snapshot]:
        """Return the snapshots, the newest first."""
        query = "SELECT position, about, arrays FROM giro_snapshots WHERE bandit = ?"
        parts = "SELECT data FROM giro_parts WHERE bandit = ? AND position = ? ORDER BY part"
        found = []
        for position, about, arrays in self._query(query + " ORDER BY position DESC", self._bandit):
            rest = self._query(parts, self._bandit, position)
            whole = b"".join([bytes(arrays), *(bytes(data) for (data,) in rest)])
            found.append(snapshot_of(position, about, whole))
        return [snapshot for snapshot in found if snapshot is not None]

    def erase(self, ids: Sequence[str], time: float) -> int:
        """Put `Erased` in place of everything about these decisions."""
        gone = 0
        with self._groups.alone(), self._store_errors(), self._writing() as connection:
            for part in parts_of(ids):
                query = (
                    "UPDATE giro_events SET kind = ?, id = NULL, value = NULL, data = NULL,"
                    f" reward = NULL WHERE bandit = ? AND position IN ({self._about(part)})"
                )
                of_part = (self._bandit, *part) * 3
                gone += self._ask(connection, query, ERASED, self._bandit, *of_part).rowcount
            if gone:
                self._ask(connection, "DELETE FROM giro_parts WHERE bandit = ?", self._bandit)
                query = "DELETE FROM giro_snapshots WHERE bandit = ?"
                self._ask(connection, query, self._bandit)
                position = self._last(connection) + 1
                self._insert(connection, [Inserted(position, row_of(Rebuilt(time)))])
        return gone

    def _about(self, ids: Sequence[str]) -> str:
        """Return a query for the positions of all events about decisions; each part has an index.

        Its parameters are three times the bandit and the ids.
        """
        its = f"FROM giro_events WHERE bandit = ? AND id IN ({marks(ids)}) AND kind ="
        return (
            f"SELECT position {its} {DECISION} UNION ALL SELECT position {its} {REPORT}"
            f" UNION ALL SELECT reward {its} {DECISION} AND reward IS NOT NULL"
        )


def parts_of(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield as many ids at a time as a query takes."""
    for begin in range(0, len(ids), IDS):
        yield ids[begin : begin + IDS]


def marks(ids: Sequence[str]) -> str:
    """Return a mark for each parameter."""
    return ", ".join("?" * len(ids))
