"""What stores in databases share: groups of events in one transaction, and connections."""

import contextlib
import io
import json
import os
import threading
import weakref
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from giro.bandit.event import KINDS, Decided, Event, Formed, Rewarded, Row, event_of, row_of
from giro.bandit.stores.store import Found, Snapshot, Taken, ids_of, taken
from giro.errors import BadFile, BadParameter

KEPT_SNAPSHOTS = 2
REPORT = KINDS.index("report")
FORM = KINDS.index("form")
ERASED = KINDS.index("erased")
MAX_GROUP = 1000  # requests in one transaction

_LEFT_BEHIND: list[Any] = []  # connections of a parent process: never used, never closed
_POOLS: "weakref.WeakSet[Connections[Any]]" = weakref.WeakSet()

# What tables hold, in the order of versions; a database of an older one runs those behind it.
# {id}, {blob}, {real} are the database's words for types, {key} an ascending number.
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
)
VERSION = len(MIGRATIONS)


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


def check_name(name: object) -> str:
    """Return the name of a bandit, a word."""
    if not isinstance(name, str) or not name:
        raise BadParameter(f"a bandit in a store needs a name, a word; got {name!r}")
    return name


# -- groups ----------------------------------------------------------------------------------


class Inserted(NamedTuple):
    """A row to insert at a position; `rewards` is the id of the decision whose reward it is."""

    position: int
    row: Row
    rewards: str | None


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
    formed: bool


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


def numbered(group: Iterable[Request], head: Head) -> list[Inserted]:
    """Return the rows of all requests that can be appended; the others get their error."""
    rows: list[Inserted] = []
    waiting, formed = head.waiting, head.formed
    for request in group:
        events = request.events
        now = {id: waiting[id] for id in ids_of(events) if id in waiting}
        first_taken = taken(events, now, formed=formed)
        if first_taken is not None:
            request.error = Taken(first_taken)
            continue
        waiting.update(now)
        formed = formed or any(isinstance(event, Formed) for event in events)
        request.first = head.position + len(rows) + 1
        for event in events:
            rewards = event.id if isinstance(event, Rewarded) else None
            rows.append(Inserted(head.position + len(rows) + 1, row_of(event), rewards))
    return rows


def wants_form(group: Iterable[Request]) -> bool:
    """Tell whether a group fixes a form."""
    return any(isinstance(event, Formed) for request in group for event in request.events)


# -- snapshots -------------------------------------------------------------------------------


def packed_arrays(arrays: dict[str, np.ndarray]) -> bytes:
    """Return arrays as bytes, without pickle."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as parts:
        for name, values in arrays.items():
            with parts.open(f"{name}.npy", "w", force_zip64=True) as part:
                np.lib.format.write_array(part, np.ascontiguousarray(values), allow_pickle=False)
    return buffer.getvalue()


def unpacked_arrays(content: bytes) -> dict[str, np.ndarray]:
    """Return the arrays in bytes made by `packed_arrays`."""
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        return {
            name.removesuffix(".npy"): np.lib.format.read_array(
                io.BytesIO(parts.read(name)), allow_pickle=False
            )
            for name in parts.namelist()
            if name.endswith(".npy")
        }


def snapshot_of(position: int, about: str, arrays: bytes) -> Snapshot | None:
    """Return a snapshot, None if it is damaged."""
    try:
        return Snapshot(position, json.loads(about), unpacked_arrays(bytes(arrays)))
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
    event = event_of(Row(*row))
    if not isinstance(event, Decided):
        raise BadFile(f"a decision was wanted, the log has {event}")
    return event


def found_in(row: Sequence[Any]) -> Found:
    """Return a decision and its reward, from the columns of both and the number of reports."""
    reward = None if row[5] is None else event_of(Row(*row[5:10]))
    if reward is not None and not isinstance(reward, Rewarded):
        raise BadFile(f"a reward was wanted, the log has {reward}")
    return Found(decision_in(row[:5]), reward, row[10])
