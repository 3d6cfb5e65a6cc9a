"""PostgreSQL: the log in a database, for many processes on many machines.

Positions are given out under an advisory lock of the bandit that is held until the commit. With a
sequence, numbers would be given before commits: a reader that has seen 7 could meet 6 only later,
and would skip it for ever.
"""

import contextlib
import hashlib
import json
import threading
import time as clock
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from giro.bandit.event import Decided, Event, Rebuilt, Row, event_of, row_of
from giro.bandit.stores import _sql as sql
from giro.bandit.stores.store import Found, Snapshot, StoreError, ids_of
from giro.errors import needs_extra

if TYPE_CHECKING:
    import psycopg

_TYPES = {
    "key": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "real": "DOUBLE PRECISION",
    "blob": "BYTEA",
}
_MIGRATING = 7_416_830_115_201_719  # key of the advisory lock under which tables are made
_COPIED = 8  # rows from which COPY is quicker than INSERT
_NAP = 1.0  # seconds after which a listener that heard nothing looks for itself
_PATIENCE = 10  # seconds for a connection
_EVENT = "kind, id, time, value, data"


class PostgresStore:
    """The log in a PostgreSQL database: threads share commits, followers are notified."""

    shared = True

    def __init__(self, url: str, name: str) -> None:
        """Connect, make the tables if there are none, and the bandit if there is none."""
        self._url = url
        self.name = sql.check_name(name)
        self._groups = sql.Groups(self._commit)
        self._writer: psycopg.Connection[Any] | None = None
        self._keeper: psycopg.Connection[Any] | None = None
        self._listener: psycopg.Connection[Any] | None = None
        self._listening = threading.Lock()
        self._readers = sql.Connections(self._connected, self._forked)
        self._bandit = self._prepared()
        digest = hashlib.blake2b(f"giro\0{self.name}".encode(), digest_size=8).digest()
        self._lock = int.from_bytes(digest, "big", signed=True)
        self._channel = f"giro_{self._bandit}"

    @classmethod
    def names(cls, url: str) -> list[str]:
        """Return the names of the bandits in a database."""
        with _told(), contextlib.closing(_connect(url)) as connection:
            if _version(connection) == 0:
                return []
            found = connection.execute("SELECT name FROM giro_bandits ORDER BY name").fetchall()
        return [name for (name,) in found]

    def _connected(self) -> "psycopg.Connection[Any]":
        return _connect(self._url)

    def _forked(self) -> None:
        for connection in (self._writer, self._keeper, self._listener):
            sql.left_behind(connection)
        self._writer = self._keeper = self._listener = None
        self._listening = threading.Lock()
        self._groups.renew()

    def _prepared(self) -> int:
        with _told(), self._transaction() as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATING,))
            version = _version(connection)
            sql.check_version(version)
            if version == 0:
                connection.execute("CREATE TABLE giro_version (version BIGINT NOT NULL)")
                connection.execute("INSERT INTO giro_version VALUES (0)")
            for script in sql.MIGRATIONS[version:]:
                for statement in sql.statements(script.format_map(_TYPES)):
                    connection.execute(statement.encode())
            connection.execute("UPDATE giro_version SET version = %s", (sql.VERSION,))
            connection.execute(
                "INSERT INTO giro_bandits (name) VALUES (%s) ON CONFLICT (name) DO NOTHING",
                (self.name,),
            )
            found = connection.execute(
                "SELECT bandit FROM giro_bandits WHERE name = %s", (self.name,)
            ).fetchone()
        return int(found[0]) if found else 0

    @contextlib.contextmanager
    def _transaction(self) -> Iterator["psycopg.Connection[Any]"]:
        """Let one thread write; all or nothing. A connection that broke is made again once."""
        if self._writer is None or self._writer.closed:
            self._writer = self._connected()
        connection = self._writer
        try:
            connection.execute("BEGIN")
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            self._writer = None
            with contextlib.suppress(Exception):
                connection.close()
            raise

    # -- appending ---------------------------------------------------------------------------

    def append(self, events: Sequence[Event]) -> int:
        """Append all of these, or none; see `Store`."""
        return self._groups.append(events)

    def _commit(self, group: list[sql.Request]) -> None:
        with _told(), self._transaction() as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (self._lock,))
            rows = sql.numbered(group, self._head(connection, group))
            if not rows:
                return
            self._insert(connection, rows)
            rewards = [(position, id) for position, _, id in rows if id is not None]
            if rewards:
                connection.execute(
                    "UPDATE giro_events e SET reward = given.position"
                    " FROM unnest(%s::bigint[], %s::text[]) AS given (position, id)"
                    " WHERE e.bandit = %s AND e.id = given.id AND e.kind = 4",
                    ([p for p, _ in rewards], [id for _, id in rewards], self._bandit),
                )
            connection.execute("SELECT pg_notify(%s, '')", (self._channel,))

    def _insert(self, connection: "psycopg.Connection[Any]", rows: list[sql.Inserted]) -> None:
        values = [(self._bandit, position, *row) for position, row, _ in rows]
        columns = f"giro_events (bandit, position, {_EVENT})"
        with connection.cursor() as cursor:
            if len(rows) < _COPIED:
                cursor.executemany(
                    f"INSERT INTO {columns} VALUES (%s, %s, %s, %s, %s, %s, %s)", values
                )
                return
            with cursor.copy(f"COPY {columns} FROM STDIN (FORMAT BINARY)") as copy:
                copy.set_types(["int8", "int8", "int2", "text", "float8", "float8", "bytea"])
                for value in values:
                    copy.write_row(value)

    def _head(self, connection: "psycopg.Connection[Any]", group: list[sql.Request]) -> sql.Head:
        ids = list({id for request in group for id in ids_of(request.events)})
        found = connection.execute(
            "SELECT id, reward IS NULL FROM giro_events"
            " WHERE bandit = %s AND kind = 4 AND id = ANY(%s)",
            (self._bandit, ids),
        )
        waiting = dict(found.fetchall())
        formed = sql.wants_form(group) and bool(
            connection.execute(
                "SELECT 1 FROM giro_events WHERE bandit = %s AND kind = %s LIMIT 1",
                (self._bandit, sql.FORM),
            ).fetchone()
        )
        return sql.Head(self._last(connection), waiting, formed)

    def _last(self, connection: "psycopg.Connection[Any]") -> int:
        found = connection.execute(
            "SELECT max(position) FROM giro_events WHERE bandit = %s", (self._bandit,)
        ).fetchone()
        return (found and found[0]) or 0

    # -- reading -----------------------------------------------------------------------------

    def _query(self, text: str, *parameters: Any) -> list[Any]:
        with _told(), self._readers.one() as connection:
            return connection.execute(text.encode(), parameters).fetchall()

    def last(self) -> int:
        """Return the position of the last event."""
        with _told(), self._readers.one() as connection:
            return self._last(connection)

    def read(self, after: int, limit: int) -> list[Event]:
        """Return up to `limit` events behind a position."""
        rows = self._query(
            f"SELECT {_EVENT} FROM giro_events WHERE bandit = %s AND position > %s"
            " ORDER BY position LIMIT %s",
            self._bandit,
            after,
            limit,
        )
        return [event_of(Row(*row)) for row in rows]

    def find(self, ids: Sequence[str]) -> dict[str, Found]:
        """Return the decisions with these ids."""
        rows = self._query(
            "SELECT d.kind, d.id, d.time, d.value, d.data, r.kind, r.id, r.time, r.value, r.data,"
            " (SELECT count(*) FROM giro_events p WHERE p.bandit = d.bandit AND p.id = d.id"
            " AND p.kind = 5) FROM giro_events d LEFT JOIN giro_events r"
            " ON r.bandit = d.bandit AND r.position = d.reward"
            " WHERE d.bandit = %s AND d.kind = 4 AND d.id = ANY(%s)",
            self._bandit,
            list(ids),
        )
        return {row[1]: sql.found_in(row) for row in rows}

    def reports(self, id: str) -> list[float]:
        """Return the values reported for a decision."""
        rows = self._query(
            "SELECT value FROM giro_events WHERE bandit = %s AND id = %s AND kind = 5"
            " ORDER BY position",
            self._bandit,
            id,
        )
        return [value for (value,) in rows]

    def waiting(self, until: float) -> list[Decided]:
        """Return the decisions up to a time that have no reward."""
        rows = self._query(
            f"SELECT {_EVENT} FROM giro_events WHERE bandit = %s AND kind = 4 AND reward IS NULL"
            " AND time <= %s ORDER BY position",
            self._bandit,
            until,
        )
        return [sql.decision_in(row) for row in rows]

    def wait(self, after: int, seconds: float) -> bool:
        """Listen, and look now and then."""
        end = clock.monotonic() + seconds
        with self._listening, _told():
            try:
                if self._listener is None or self._listener.closed:
                    self._listener = self._connected()
                    self._listener.execute(f"LISTEN {self._channel}".encode())
                while True:
                    more = self._last(self._listener) > after
                    left = end - clock.monotonic()
                    if more or left <= 0.0:
                        return more
                    for _ in self._listener.notifies(timeout=min(left, _NAP), stop_after=1):
                        pass
            except BaseException:
                if self._listener is not None:
                    with contextlib.suppress(Exception):
                        self._listener.close()
                self._listener = None
                raise

    # -- the rest ----------------------------------------------------------------------------

    def keep(self, snapshot: Snapshot) -> None:
        """Keep a snapshot, and the one before."""
        arrays, about = sql.packed_arrays(snapshot.arrays), json.dumps(snapshot.about)
        with _told(), self._readers.one() as connection, connection.transaction():
            connection.execute(
                "INSERT INTO giro_snapshots SELECT %s, %s, %s, %s WHERE NOT EXISTS"
                " (SELECT 1 FROM giro_events WHERE bandit = %s AND position > %s AND kind = 9)"
                " ON CONFLICT (bandit, position) DO NOTHING",
                (*(row := (self._bandit, snapshot.position)), about, arrays, *row),
            )
            connection.execute(
                "DELETE FROM giro_snapshots WHERE bandit = %s AND position NOT IN (SELECT position"
                " FROM giro_snapshots WHERE bandit = %s ORDER BY position DESC LIMIT %s)",
                (self._bandit, self._bandit, sql.KEPT_SNAPSHOTS),
            )

    def snapshots(self) -> list[Snapshot]:
        """Return the snapshots, the newest first."""
        rows = self._query(
            "SELECT position, about, arrays FROM giro_snapshots WHERE bandit = %s"
            " ORDER BY position DESC",
            self._bandit,
        )
        return [s for row in rows if (s := sql.snapshot_of(*row)) is not None]

    def erase(self, ids: Sequence[str], time: float) -> int:
        """Put `Erased` in place of everything about these decisions.

        PostgreSQL overwrites what was there when it next vacuums the table.
        """
        with self._groups.alone(), _told(), self._transaction() as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (self._lock,))
            gone = connection.execute(
                "UPDATE giro_events SET kind = %s, id = NULL, value = NULL, data = NULL,"
                " reward = NULL WHERE bandit = %s AND id = ANY(%s)",
                (sql.ERASED, self._bandit, list(ids)),
            ).rowcount
            if gone:
                connection.execute("DELETE FROM giro_snapshots WHERE bandit = %s", (self._bandit,))
                last = self._last(connection)
                self._insert(connection, [sql.Inserted(last + 1, row_of(Rebuilt(time)), None)])
                connection.execute("SELECT pg_notify(%s, '')", (self._channel,))
        return gone

    def is_keeper(self) -> bool:
        """Hold an advisory lock for as long as a connection of its own lives."""
        with self._groups.alone(), _told():
            try:
                if self._keeper is not None and not self._keeper.closed:
                    self._keeper.execute("SELECT 1")  # still there?
                    return True
            except Exception:
                self._keeper = None
            connection = self._connected()
            found = connection.execute(
                "SELECT pg_try_advisory_lock(%s)", (self._lock ^ 1,)
            ).fetchone()
            if found and found[0]:
                self._keeper = connection
                return True
            connection.close()
            return False

    def close(self) -> None:
        """Close all connections."""
        with self._groups.alone():
            self._readers.close()
            for connection in (self._writer, self._keeper, self._listener):
                if connection is not None:
                    with contextlib.suppress(Exception):
                        connection.close()
            self._writer = self._keeper = self._listener = None


def _connect(url: str) -> "psycopg.Connection[Any]":
    with needs_extra("a store in PostgreSQL", "psycopg", extra="postgres"):
        import psycopg  # noqa: PLC0415  # an extra

    return psycopg.connect(url, autocommit=True, connect_timeout=_PATIENCE)


def _version(connection: "psycopg.Connection[Any]") -> int:
    found = connection.execute("SELECT to_regclass('giro_version') IS NOT NULL").fetchone()
    if not (found and found[0]):
        return 0
    found = connection.execute("SELECT version FROM giro_version").fetchone()
    return int(found[0]) if found else 0


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Say what went wrong with the database; its address, which may hold a password, stays out."""
    with needs_extra("a store in PostgreSQL", "psycopg", extra="postgres"):
        import psycopg  # noqa: PLC0415  # an extra

    try:
        yield
    except psycopg.Error as error:
        message = " ".join(str(error).split())
        raise StoreError(f"the store in PostgreSQL fails: {message}") from None
