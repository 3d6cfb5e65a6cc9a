"""Decisions and rewards that wait until the service is back, in a file that survives a crash.

Each commit is on disk before a call returns. Sending one twice changes nothing, because decisions
have ids and rewards have names, so a crash between an answer and its note here does no harm, and
several processes may share a file.
"""

import contextlib
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from giro.errors import StoreError

DECISION, REWARD = "decision", "reward"
_PATIENCE = 10.0  # seconds in which another process may hold the file
T = TypeVar("T")
_TABLES = """
CREATE TABLE IF NOT EXISTS waiting (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    service TEXT NOT NULL, bandit TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL,
    body TEXT NOT NULL, refused TEXT
);
CREATE INDEX IF NOT EXISTS by_id ON waiting (service, bandit, id);
CREATE INDEX IF NOT EXISTS by_kind ON waiting (service, bandit, kind, number) WHERE refused IS NULL;
"""


class Item(NamedTuple):
    """A decision or a reward to send, as the service wants it."""

    bandit: str
    kind: str
    id: str
    body: dict[str, Any]
    number: int = 0


class Refused(NamedTuple):
    """A decision or a reward that the service did not take, and its sentence."""

    bandit: str
    kind: str
    id: str
    body: dict[str, Any]
    detail: str


class Waiting:
    """The items for one service, the oldest first. The file is made when the first one comes."""

    def __init__(self, path: str | os.PathLike[str] | None, service: str) -> None:
        """Keep items in a file, or with None in memory only."""
        self._path, self._service = None if path is None else Path(path), service
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        if self._path is not None and self._path.exists():
            self._call(lambda _: None)

    @property
    def is_there(self) -> bool:
        """Whether there is a file, so that something may wait in it."""
        return self._connection is not None

    def __len__(self) -> int:
        """Return how many wait."""
        rows = self._rows("SELECT COUNT(*) FROM waiting WHERE service = ? AND refused IS NULL")
        return int(rows[0][0]) if rows else 0

    def put(self, items: Sequence[Item]) -> None:
        """Keep these items, all or none."""
        rows = [
            (self._service, item.bandit, item.kind, item.id, json.dumps(item.body))
            for item in items
        ]
        insert = "INSERT INTO waiting (service, bandit, kind, id, body) VALUES (?, ?, ?, ?, ?)"
        self._call(lambda connection: connection.executemany(insert, rows))

    def holds(self, bandit: str, ids: Sequence[str]) -> bool:
        """Return whether something about one of these decisions waits."""
        where = "SELECT 1 FROM waiting WHERE service = ? AND bandit = ? AND id = ?"
        where += " AND refused IS NULL LIMIT 1"
        return any(self._rows(where, bandit, id) for id in ids)

    def decision(self, bandit: str, ids: Sequence[str]) -> dict[str, Any] | None:
        """Return the body of the first decision with one of these ids that waits."""
        where = "SELECT body FROM waiting WHERE service = ? AND bandit = ? AND id = ?"
        where += " AND kind = ? AND refused IS NULL"
        for id in ids:
            rows = self._rows(where, bandit, id, DECISION)
            if rows:
                return dict(json.loads(rows[0][0]))
        return None

    def first(self, most: int) -> list[Item]:
        """Return the oldest items that can be sent together: of one bandit and one kind.

        Decisions come before rewards, which may be for them. It is one query, because another
        process may add a decision and its reward between two.
        """
        rows = self._rows(
            "SELECT bandit, kind, id, body, number FROM waiting WHERE service = ?1"
            " AND refused IS NULL AND bandit = (SELECT bandit FROM waiting NOT INDEXED"
            " WHERE service = ?1 AND refused IS NULL ORDER BY number LIMIT 1)"
            " ORDER BY kind, number LIMIT ?2",
            most,
        )
        items = [Item(a, kind, id, json.loads(body), n) for a, kind, id, body, n in rows]
        return [item for item in items if item.kind == items[0].kind]

    def settle(self, items: Sequence[Item], refused: Sequence[str | None]) -> None:
        """Forget items that were taken, and note why others were refused."""
        done = [(item.number,) for item, why in zip(items, refused, strict=True) if why is None]
        kept = [(why, item.number) for item, why in zip(items, refused, strict=True) if why]

        def change(connection: sqlite3.Connection) -> None:
            connection.executemany("DELETE FROM waiting WHERE number = ?", done)
            connection.executemany("UPDATE waiting SET refused = ? WHERE number = ?", kept)

        self._call(change)

    def refused(self) -> list[Refused]:
        """Return the items that the service did not take, the oldest first."""
        where = "SELECT bandit, kind, id, body, refused FROM waiting WHERE service = ?"
        rows = self._rows(f"{where} AND refused IS NOT NULL ORDER BY number")
        return [Refused(a, kind, id, json.loads(body), why) for a, kind, id, body, why in rows]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _rows(self, query: str, *values: Any) -> list[Any]:
        if not self.is_there:
            return []
        return self._call(lambda it: it.execute(query, (self._service, *values)).fetchall())

    def _call(self, function: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock, self._told():
            if self._connection is None:
                self._connection = self._opened()
            with self._connection:
                return function(self._connection)

    def _opened(self) -> sqlite3.Connection:
        name = ":memory:" if self._path is None else str(self._path)
        connection = sqlite3.connect(name, timeout=_PATIENCE, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.executescript(_TABLES)
        return connection

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(
                f"{self._path or 'memory'} cannot keep what waits for the service: {error}"
            ) from error
