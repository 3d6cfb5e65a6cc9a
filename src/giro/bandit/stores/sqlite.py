"""SQLite: the log in a file, for many processes on one machine."""

import contextlib
import json
import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from giro.bandit.event import Decided, Event, Rebuilt, Row, event_of, row_of
from giro.bandit.stores import _sql as sql
from giro.bandit.stores.store import Found, Snapshot, StoreError, ids_of

_TYPES = {"key": "INTEGER PRIMARY KEY", "real": "REAL", "blob": "BLOB"}
_PATIENCE = 60.0  # seconds to wait for other writers
_NAP = 0.005  # seconds between looks for more events
_LEASE = 10.0  # seconds that a keeper may be silent
_IDS = 500  # in one query


class SqliteStore:
    """The log in a database file: WAL, synced before `append` returns, threads share commits."""

    shared = True

    def __init__(self, path: Path, name: str) -> None:
        """Open the file, or make it; then the bandit in it, or a new one without events."""
        self._path, self._who = path, secrets.token_hex(8)
        self.name = sql.check_name(name)
        self._groups = sql.Groups(self._commit)
        self._writer: sqlite3.Connection | None = None
        self._readers = sql.Connections(self._connected, self._forked)
        with _told(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._bandit = self._prepared()

    @classmethod
    def names(cls, path: Path) -> list[str]:
        """Return the names of the bandits in a file."""
        if not path.exists():
            return []
        with _told(path), contextlib.closing(sqlite3.connect(path)) as connection:
            found = connection.execute("SELECT name FROM giro_bandits ORDER BY name").fetchall()
        return [name for (name,) in found]

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")  # what is erased is overwritten
        return connection

    def _forked(self) -> None:
        sql.left_behind(self._writer)
        self._writer, self._who = None, secrets.token_hex(8)
        self._groups.renew()

    def _prepared(self) -> int:
        with self._transaction() as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            sql.check_version(version)
            for script in sql.MIGRATIONS[version:]:
                for statement in sql.statements(script.format_map(_TYPES)):
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {sql.VERSION}")
            connection.execute(
                "INSERT INTO giro_bandits (name) VALUES (?) ON CONFLICT (name) DO NOTHING",
                (self.name,),
            )
            (bandit,) = connection.execute(
                "SELECT bandit FROM giro_bandits WHERE name = ?", (self.name,)
            ).fetchone()
        return int(bandit)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Let one thread write; all or nothing."""
        if self._writer is None:
            self._writer = self._connected()
        connection = self._writer
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            with contextlib.suppress(sqlite3.Error):
                connection.close()
            self._writer = None
            raise

    # -- appending ---------------------------------------------------------------------------

    def append(self, events: Sequence[Event]) -> int:
        """Append all of these, or none; see `Store`."""
        return self._groups.append(events)

    def _commit(self, group: list[sql.Request]) -> None:
        with _told(self._path), self._transaction() as connection:
            rows = sql.numbered(group, self._head(connection, group))
            connection.executemany(
                "INSERT INTO giro_events (bandit, position, kind, id, time, value, data)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(self._bandit, position, *row) for position, row, _ in rows],
            )
            connection.executemany(
                "UPDATE giro_events SET reward = ? WHERE bandit = ? AND id = ? AND kind = 4",
                [(p, self._bandit, id) for p, _, id in rows if id is not None],
            )

    def _head(self, connection: sqlite3.Connection, group: list[sql.Request]) -> sql.Head:
        ids = list({id for request in group for id in ids_of(request.events)})
        waiting = {}
        for part in _parts(ids):
            found = connection.execute(
                f"SELECT id, reward IS NULL FROM giro_events"
                f" WHERE bandit = ? AND kind = 4 AND id IN ({_marks(part)})",
                (self._bandit, *part),
            )
            waiting.update({id: bool(waits) for id, waits in found})
        formed = sql.wants_form(group) and bool(
            connection.execute(
                "SELECT 1 FROM giro_events WHERE bandit = ? AND kind = ? LIMIT 1",
                (self._bandit, sql.FORM),
            ).fetchone()
        )
        return sql.Head(self._last(connection), waiting, formed)

    def _last(self, connection: sqlite3.Connection) -> int:
        (last,) = connection.execute(
            "SELECT max(position) FROM giro_events WHERE bandit = ?", (self._bandit,)
        ).fetchone()
        return last or 0

    # -- reading -----------------------------------------------------------------------------

    def _query(self, text: str, *parameters: Any) -> list[Any]:
        with _told(self._path), self._readers.one() as connection:
            return connection.execute(text, parameters).fetchall()

    def last(self) -> int:
        """Return the position of the last event."""
        with _told(self._path), self._readers.one() as connection:
            return self._last(connection)

    def read(self, after: int, limit: int) -> list[Event]:
        """Return up to `limit` events behind a position."""
        rows = self._query(
            "SELECT kind, id, time, value, data FROM giro_events"
            " WHERE bandit = ? AND position > ? ORDER BY position LIMIT ?",
            self._bandit,
            after,
            limit,
        )
        return [event_of(Row(*row)) for row in rows]

    def find(self, ids: Sequence[str]) -> dict[str, Found]:
        """Return the decisions with these ids."""
        found = {}
        for part in _parts(list(ids)):
            rows = self._query(
                "SELECT d.kind, d.id, d.time, d.value, d.data, r.kind, r.id, r.time, r.value,"
                " r.data, (SELECT count(*) FROM giro_events p WHERE p.bandit = d.bandit"
                " AND p.id = d.id AND p.kind = 5) FROM giro_events d LEFT JOIN giro_events r"
                " ON r.bandit = d.bandit AND r.position = d.reward"
                f" WHERE d.bandit = ? AND d.kind = 4 AND d.id IN ({_marks(part)})",
                self._bandit,
                *part,
            )
            found.update({row[1]: sql.found_in(row) for row in rows})
        return found

    def reports(self, id: str) -> list[float]:
        """Return the values reported for a decision."""
        rows = self._query(
            "SELECT value FROM giro_events WHERE bandit = ? AND id = ? AND kind = 5"
            " ORDER BY position",
            self._bandit,
            id,
        )
        return [value for (value,) in rows]

    def waiting(self, until: float) -> list[Decided]:
        """Return the decisions up to a time that have no reward."""
        rows = self._query(
            "SELECT kind, id, time, value, data FROM giro_events"
            " WHERE bandit = ? AND kind = 4 AND reward IS NULL AND time <= ? ORDER BY position",
            self._bandit,
            until,
        )
        return [sql.decision_in(row) for row in rows]

    def wait(self, after: int, seconds: float) -> bool:
        """Look again and again."""
        end = time.monotonic() + seconds
        while True:
            more = self.last() > after
            left = end - time.monotonic()
            if more or left <= 0.0:
                return more
            time.sleep(min(_NAP, left))

    # -- the rest ----------------------------------------------------------------------------

    def keep(self, snapshot: Snapshot) -> None:
        """Keep a snapshot, and the one before."""
        arrays = sql.packed_arrays(snapshot.arrays)
        about = json.dumps(snapshot.about)
        with self._groups.alone(), _told(self._path), self._transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO giro_snapshots SELECT ?, ?, ?, ? WHERE NOT EXISTS"
                " (SELECT 1 FROM giro_events WHERE bandit = ? AND position > ? AND kind = 9)",
                (*(row := (self._bandit, snapshot.position)), about, arrays, *row),
            )
            connection.execute(
                "DELETE FROM giro_snapshots WHERE bandit = ? AND position NOT IN (SELECT position"
                " FROM giro_snapshots WHERE bandit = ? ORDER BY position DESC LIMIT ?)",
                (self._bandit, self._bandit, sql.KEPT_SNAPSHOTS),
            )

    def snapshots(self) -> list[Snapshot]:
        """Return the snapshots, the newest first."""
        rows = self._query(
            "SELECT position, about, arrays FROM giro_snapshots WHERE bandit = ?"
            " ORDER BY position DESC",
            self._bandit,
        )
        return [s for row in rows if (s := sql.snapshot_of(*row)) is not None]

    def erase(self, ids: Sequence[str], time: float) -> int:
        """Put `Erased` in place of everything about these decisions; overwrite what was there."""
        gone = 0
        with self._groups.alone(), _told(self._path), self._transaction() as connection:
            for part in _parts(list(ids)):
                gone += connection.execute(
                    "UPDATE giro_events SET kind = ?, id = NULL, value = NULL, data = NULL,"
                    f" reward = NULL WHERE bandit = ? AND id IN ({_marks(part)})",
                    (sql.ERASED, self._bandit, *part),
                ).rowcount
            if gone:
                connection.execute("DELETE FROM giro_snapshots WHERE bandit = ?", (self._bandit,))
                connection.execute(
                    "INSERT INTO giro_events (bandit, position, kind, id, time, value, data)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (self._bandit, self._last(connection) + 1, *row_of(Rebuilt(time))),
                )
        if gone:
            self._query("PRAGMA wal_checkpoint(TRUNCATE)")  # also what the WAL held
        return gone

    def is_keeper(self) -> bool:
        """Hold a lease, or take it over when its holder has been silent."""
        now = time.time()
        with self._groups.alone(), _told(self._path), self._transaction() as connection:
            connection.execute(
                "INSERT INTO giro_keepers VALUES (?, ?, ?) ON CONFLICT (bandit) DO UPDATE SET"
                " who = excluded.who, until = excluded.until WHERE who = excluded.who OR"
                " until < ? OR until > ?",
                (self._bandit, self._who, now + _LEASE, now, now + 2 * _LEASE),
            )
            (who,) = connection.execute(
                "SELECT who FROM giro_keepers WHERE bandit = ?", (self._bandit,)
            ).fetchone()
        return bool(who == self._who)

    def close(self) -> None:
        """Close the file; others need not wait until the lease ends."""
        with self._groups.alone():
            with contextlib.suppress(sqlite3.Error, OSError), self._transaction() as connection:
                connection.execute(
                    "DELETE FROM giro_keepers WHERE bandit = ? AND who = ?",
                    (self._bandit, self._who),
                )
            self._readers.close()
            if self._writer is not None:
                self._writer.close()
                self._writer = None


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """Say what went wrong with the file."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"the store {path} fails: {error}") from error


def _parts(ids: list[str]) -> Iterator[list[str]]:
    for begin in range(0, len(ids), _IDS):
        yield ids[begin : begin + _IDS]


def _marks(ids: Sequence[str]) -> str:
    return ", ".join("?" * len(ids))
