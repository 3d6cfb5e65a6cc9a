"""SQLite: the log in a file, for many processes on one machine.

Processes take turns to write. A transaction is committed without a sync, and its writer syncs the
write-ahead log when it is no longer its turn, before `append` returns: while one process waits for
the disk others write, and a sync makes durable all that was written before it.
"""

import contextlib
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from giro.bandit.stores._database import Database, shared
from giro.bandit.stores._groups import Groups, Inserted, Unreachable
from giro.bandit.stores._queue import Queue
from giro.bandit.stores._schema import EVENT, VERSION
from giro.bandit.stores._sql import SqlStore
from giro.errors import StoreError

_PATIENCE = 60.0  # seconds to wait for writers that do not queue
_NAPS = (0.005, 0.05)  # seconds between looks for more events: in a busy file, and in a quiet one
_CALMING = 1.05  # how much longer each nap is than the one before, if nothing came
_CHECKPOINT = 1000  # commits after which what they wrote is moved from the log into the file
_BACKSTOP = 20_000  # pages after which SQLite does that itself, in the middle of a commit

_sync = getattr(os, "fdatasync", os.fsync)


def opened(path: Path, name: object) -> SqlStore:
    """Return the store of a bandit in a file."""
    return SqlStore(shared(SqliteDatabase, os.path.realpath(path)), name)


def names(path: Path) -> list[str]:
    """Return the names of the bandits in a file."""
    if not path.exists():
        return []
    with _errors(str(path)), contextlib.closing(sqlite3.connect(path)) as connection:
        if connection.execute("PRAGMA user_version").fetchone() == (0,):
            return []
        rows = connection.execute("SELECT name FROM giro_bandits ORDER BY name").fetchall()
    return [name for (name,) in rows]


class _Log:
    """A write-ahead log that is open."""

    def __init__(self, path: str) -> None:
        """Open it, until nobody needs it."""
        self.file = os.open(path, os.O_RDWR)
        weakref.finalize(self, os.close, self.file)


class SqliteDatabase(Database):
    """A database file with a WAL, synced before `append` returns and written in turns."""

    types: ClassVar = {"key": "INTEGER PRIMARY KEY", "real": "REAL", "blob": "BLOB"}
    now = "((julianday('now') - 2440587.5) * 86400.0)"
    most = 64

    def __init__(self, where: str) -> None:
        """Prepare. The file is opened or made when needed."""
        super().__init__(where)
        self._queue = Queue(where)
        self._groups = Groups(self.commit, self.sync)
        self.all_groups.add(self._groups)
        self._file: tuple[int, int] | None = None  # device and number of the file
        self._log: _Log | None = None
        self._n_commits = 0  # since the last checkpoint
        self._watcher: sqlite3.Connection | None = None
        self._seen: dict[str, int] = {}  # by the watcher

    def connected(self) -> sqlite3.Connection:
        """Return a new connection."""
        Path(self.where).parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(
            self.where, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
        )
        _keep_in_wal(connection)
        connection.execute("PRAGMA synchronous = NORMAL")  # see `sync`
        connection.execute(f"PRAGMA wal_autocheckpoint = {_BACKSTOP}")
        connection.execute("PRAGMA secure_delete = ON")  # what is erased is overwritten
        return connection

    def errors(self) -> contextlib.AbstractContextManager[None]:
        """Name the file."""
        return _errors(self.where)

    def groups(self) -> Groups:
        """Return the same for all stores: the file has one writer."""
        return self._groups

    @contextlib.contextmanager
    def writing(self, bandit: int = 0) -> Iterator[sqlite3.Connection]:
        """Lend a connection in a transaction, in the turn of this process."""
        with self.pool.one() as connection, self._queue.turn():
            self._check_file()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
        self._n_commits += 1
        if self._n_commits >= _CHECKPOINT:
            self.watch.hurry()

    @contextlib.contextmanager
    def aside(self, *, alone: bool = False) -> Iterator[sqlite3.Connection]:
        """Lend the only writer: SQLite has no other way."""
        with self._groups.alone(), self.writing() as connection:
            yield connection

    def _check_file(self) -> None:
        """Check that the file is still the one that was opened."""
        try:
            about = os.stat(self.where)
        except FileNotFoundError:
            raise StoreError(f"the store {self.where} was deleted while it was open") from None
        if self._file is None:
            self._file = (about.st_dev, about.st_ino)
        elif self._file != (about.st_dev, about.st_ino):
            raise StoreError(f"the store {self.where} was replaced while it was open")

    def sync(self) -> None:
        """Make durable all that was committed, by this process and others.

        SQLite removes its log when the last connection is closed: all of it is in the file then.
        """
        try:
            log = self._log  # open as long as it is named here: other threads may replace it
            if log is None or os.fstat(log.file).st_nlink == 0:
                log = self._log = _Log(f"{self.where}-wal")
            _sync(log.file)
        except FileNotFoundError:
            return
        except OSError as error:
            raise Unreachable(f"the store {self.where} fails: {error}") from error

    def overwrite(self) -> None:
        """Write over erased data, also in the write-ahead log."""
        self.query("PRAGMA wal_checkpoint(TRUNCATE)")

    def version(self, connection: sqlite3.Connection) -> int:
        """Return the version in the file's header."""
        return int(connection.execute("PRAGMA user_version").fetchone()[0])

    def set_version(self, connection: sqlite3.Connection) -> None:
        """Note it there."""
        connection.execute(f"PRAGMA user_version = {VERSION}")

    def insert(self, connection: sqlite3.Connection, bandit: int, rows: Sequence[Inserted]) -> None:
        """Insert rows. Followers look for themselves."""
        connection.executemany(
            f"INSERT INTO giro_events (bandit, position, {EVENT}, reward)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(bandit, position, *row, reward) for position, row, reward in rows],
        )

    # -- in the background -----------------------------------------------------------------------

    def listen(self, stop: threading.Event) -> Generator[dict[int, int], None, None]:
        """Look for news, less often if there were none for a while."""
        nap = _NAPS[0]
        while not stop.wait(nap):
            self.pool.enter()
            try:
                with self.errors():
                    news = {} if stop.is_set() else self._news()
            finally:
                self.pool.leave()
            nap = _NAPS[0] if news else min(_CALMING * nap, _NAPS[1])
            yield news
        self._close_watcher()

    def _news(self) -> dict[int, int]:
        """Return the last positions of bandits that others have written since the last look."""
        if self._watcher is None:
            self._watcher = self.connected()
            self._seen.pop("version", None)  # each connection counts for itself
        (version,) = self._watcher.execute("PRAGMA data_version").fetchone()
        if version == self._seen.get("version"):
            return {}
        self._seen["version"] = version
        if "row" not in self._seen:
            (row,) = self._watcher.execute("SELECT max(rowid) FROM giro_events").fetchone()
            self._seen["row"] = row or 0
            return self.positions(self._watcher, self.watch.watched())
        query = (
            "SELECT bandit, max(position), max(rowid) FROM giro_events WHERE rowid > ?"
            " GROUP BY bandit"
        )
        rows = self._watcher.execute(query, (self._seen["row"],)).fetchall()
        self._seen["row"] = max([self._seen["row"], *(row for _, _, row in rows)])
        return {bandit: position for bandit, position, _ in rows}

    def do_chores(self) -> None:
        """Move commits from the write-ahead log into the file.

        Most of it while others write. The rest while nobody does, so that the log can begin anew
        and does not grow for ever.
        """
        if self._n_commits >= _CHECKPOINT:
            self._n_commits = 0
            self.query("PRAGMA wal_checkpoint(PASSIVE)")
            with self._groups.alone(), self.errors(), self.pool.one() as connection:
                with self._queue.turn():
                    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    # -- forks and the end -----------------------------------------------------------------------

    def before_fork(self) -> None:
        """Close everything: SQLite's notes of a process's locks must not be inherited."""
        self.pool.pause()
        self._close()

    def after_fork_in_parent(self) -> None:
        """Open again when needed."""
        self.pool.go_on()

    def _close(self) -> None:
        self.pool.close()
        self._queue.close()
        self._close_watcher()

    def _close_watcher(self) -> None:
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.close()

    def close(self) -> None:
        """Close everything, when nobody uses it any more."""
        self.pool.pause()
        self._close()
        self.pool.go_on()


def _keep_in_wal(connection: sqlite3.Connection) -> None:
    """Give a new file a write-ahead log.

    SQLite does not always wait for others here, as it does elsewhere: it may fail at once.
    """
    patience = _PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or patience < 0.0:
                raise
        time.sleep(_NAPS[0])
        patience -= _NAPS[0]


@contextlib.contextmanager
def _errors(path: str) -> Iterator[None]:
    """Explain an error of the file."""
    try:
        yield
    except (sqlite3.OperationalError, OSError) as error:
        raise Unreachable(f"the store {path} fails: {error}") from error
    except sqlite3.Error as error:
        raise StoreError(f"the store {path} fails: {error}") from error
