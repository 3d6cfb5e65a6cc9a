"""SQLite: the log in a file, for many processes on one machine."""

import contextlib
import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from giro.bandit.stores import _sql as sql
from giro.errors import StoreError

_TYPES = {"key": "INTEGER PRIMARY KEY", "real": "REAL", "blob": "BLOB"}
_PATIENCE = 60.0  # seconds to wait for other writers
_NAP = 0.005  # seconds between looks for more events
_LEASE = 10.0  # seconds that a keeper may be silent


class SqliteStore(sql.SqlStore):
    """The log in a database file: WAL, synced before `append` returns, threads share commits."""

    def __init__(self, path: Path, name: object) -> None:
        """Open the file, or make it; then the bandit in it, or a new one without events."""
        super().__init__(name)
        self._path, self._who = path, secrets.token_hex(8)
        self._writer: sqlite3.Connection | None = None
        with self._store_errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._writing() as connection:
                (version,) = connection.execute("PRAGMA user_version").fetchone()
                self._made(connection, version, _TYPES)
                connection.execute(f"PRAGMA user_version = {sql.VERSION}")

    @classmethod
    def names(cls, path: Path) -> list[str]:
        """Return the names of the bandits in a file."""
        if not path.exists():
            return []
        with _store_errors(path), contextlib.closing(sqlite3.connect(path)) as connection:
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

    def _store_errors(self) -> contextlib.AbstractContextManager[None]:
        return _store_errors(self._path)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
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

    def _insert(self, connection: sqlite3.Connection, rows: Sequence[sql.Inserted]) -> None:
        connection.executemany(
            f"INSERT INTO giro_events (bandit, position, {sql.EVENT}, reward)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(self._bandit, position, *row, reward) for position, row, reward in rows],
        )

    def wait(self, after: int, seconds: float) -> bool:
        """Return whether there are events after `after`, within `seconds`.

        Polled every `_NAP` s.
        """
        end = time.monotonic() + seconds
        while True:
            more = self.last() > after
            left = end - time.monotonic()
            if more or left <= 0.0:
                return more
            time.sleep(min(_NAP, left))

    def erase(self, ids: Sequence[str], time: float) -> int:
        """Put `Erased` in place of everything about these decisions; overwrite what was there."""
        gone = super().erase(ids, time)
        if gone:
            self._query("PRAGMA wal_checkpoint(TRUNCATE)")  # also what the WAL held
        return gone

    def is_keeper(self) -> bool:
        """Return whether this process holds the keeper's lease.

        It is taken over when its holder has been silent for `_LEASE` s.
        """
        now = time.time()
        with self._groups.alone(), self._store_errors(), self._writing() as connection:
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
            with contextlib.suppress(sqlite3.Error, OSError), self._writing() as connection:
                connection.execute(
                    "DELETE FROM giro_keepers WHERE bandit = ? AND who = ?",
                    (self._bandit, self._who),
                )
            self._readers.close()
            if self._writer is not None:
                self._writer.close()
                self._writer = None


@contextlib.contextmanager
def _store_errors(path: Path) -> Iterator[None]:
    """Say what went wrong with the file."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"the store {path} fails: {error}") from error
