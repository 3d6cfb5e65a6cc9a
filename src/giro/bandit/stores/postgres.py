"""PostgreSQL: the log in a database, for many processes on many machines.

Positions are given out under an advisory lock of the bandit that is held until the commit. With a
sequence, numbers would be given before commits: a reader that has seen 7 could meet 6 only later,
and would never read it.

An append is one round trip: the statements are sent together, the last of them says what must hold
for the group to be appended, and appends it if that holds. What is refused, and what is large,
takes the way of several round trips that all databases share.
"""

import contextlib
import hashlib
import threading
import time as clock
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from giro.bandit.event import DECISION
from giro.bandit.stores import _sql as sql
from giro.errors import StoreError, needs_extra

if TYPE_CHECKING:
    import psycopg

_TYPES = {
    "key": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "real": "DOUBLE PRECISION",
    "blob": "BYTEA",
}
_MIGRATING = 7_416_830_115_201_719  # key of the advisory lock under which tables are made
_COLUMNS = ["int8", "int8", "int2", "text", "float8", "float8", "bytea", "int8"]
_COPIED = 64  # rows from which COPY is quicker than INSERT
_NAP = 1.0  # seconds after which a listener that heard nothing looks for itself
_BREATH = 0.005  # seconds between two reports of more events: those of a busy log come together
_PATIENCE = 10  # seconds for a connection
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"  # each statement sees what others committed
_LOCK = "SELECT pg_advisory_xact_lock(%s)"

# Appends a group if none of its decisions is there (`decided`), all that it rewards or reports on
# wait (`waiting`) and, if it fixes a form, there is none. It is another statement than the one that
# takes the lock, because a statement sees the table as it was when it began. Rows are looked up one
# by one, because of `id = ANY` PostgreSQL reads all rows of a bandit until it has statistics.
_APPEND = f"""
    WITH known AS (
        SELECT asked.id, its.*
        FROM unnest(%(decided)s::text[] || %(waiting)s::text[]) AS asked (id), LATERAL (
            SELECT ctid AS place, reward FROM giro_events
            WHERE bandit = %(bandit)s AND kind = 4 AND id = asked.id LIMIT 1) AS its
    ), head AS (
        SELECT (
            SELECT coalesce(max(position), 0) FROM giro_events WHERE bandit = %(bandit)s) AS last
        WHERE cardinality(%(waiting)s::text[]) = (SELECT count(*) FROM known)
        AND NOT EXISTS (
            SELECT 1 FROM known WHERE reward IS NOT NULL OR id = ANY(%(decided)s::text[]))
        AND NOT (%(forms)s AND EXISTS (
            SELECT 1 FROM giro_events WHERE bandit = %(bandit)s AND kind = {sql.FORM}))
    ), inserted AS (
        INSERT INTO giro_events (bandit, position, {sql.EVENT}, reward)
        SELECT %(bandit)s, last + number, {sql.EVENT}, last + reward
        FROM head, unnest(
            %(kinds)s::smallint[], %(ids)s::text[], %(times)s::double precision[],
            %(values)s::double precision[], %(datas)b::bytea[], %(rewards)s::bigint[]
        ) WITH ORDINALITY AS row ({sql.EVENT}, reward, number)
    ), rewarded AS (
        UPDATE giro_events
        SET reward = last + (%(places)s::bigint[])[array_position(%(rewarded)s::text[], known.id)]
        FROM head, known WHERE giro_events.ctid = place AND known.id = ANY(%(rewarded)s::text[])
    )
    SELECT last, pg_notify(%(channel)s, (last + %(n)s)::text) FROM head
"""


class PostgresStore(sql.SqlStore):
    """The log in a PostgreSQL database: threads share commits, followers are notified."""

    def __init__(self, url: str, name: object) -> None:
        """Connect, make the tables if there are none, and the bandit if there is none."""
        super().__init__(name)
        self._url = url
        self._writer: psycopg.Connection[Any] | None = None
        self._keeper: psycopg.Connection[Any] | None = None
        self._listener: psycopg.Connection[Any] | None = None
        self._listening = threading.Lock()
        self._heard = 0  # the last position that the listener knows of
        self._notified_at = 0.0  # when it last reported more
        self._looked_at = 0.0  # when it last looked for itself
        self._lock = _MIGRATING
        with self._store_errors(), self._writing() as connection:
            version = _version(connection)
            if version == 0:
                connection.execute("CREATE TABLE giro_version (version BIGINT NOT NULL)")
                connection.execute("INSERT INTO giro_version VALUES (0)")
            self._made(connection, version, _TYPES)
            connection.execute("UPDATE giro_version SET version = %s", (sql.VERSION,))
        digest = hashlib.blake2b(f"giro\0{self.name}".encode(), digest_size=8).digest()
        self._lock = int.from_bytes(digest, "big", signed=True)
        self._channel = f"giro_{self._bandit}"

    @classmethod
    def names(cls, url: str) -> list[str]:
        """Return the names of the bandits in a database."""
        with _store_errors(), contextlib.closing(_connect(url)) as connection:
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

    def _store_errors(self) -> contextlib.AbstractContextManager[None]:
        return _store_errors()

    def _text(self, query: str) -> Any:
        """Return a query with psycopg's marks; none of ours holds a ? that is not one."""
        return query.replace("?", "%s").encode()

    @contextlib.contextmanager
    def _writing(self, *, at_once: bool = False) -> Iterator["psycopg.Connection[Any]"]:
        """Lend the writer; `at_once` sends all statements together, results come at the end."""
        if self._writer is None or self._writer.closed:
            self._writer = self._connected()
        connection = self._writer
        try:
            with connection.pipeline() if at_once else contextlib.nullcontext():
                connection.execute(_BEGIN)
                connection.execute(_LOCK, (self._lock,))
                yield connection
                connection.execute("COMMIT")
        except BaseException:
            self._writer = None
            with contextlib.suppress(Exception):
                connection.close()
            raise

    def _commit(self, group: list[sql.Request]) -> None:
        if sum(len(r.events) for r in group) >= _COPIED or not self._committed_at_once(group):
            super()._commit(group)

    def _committed_at_once(self, group: list[sql.Request]) -> bool:
        """Append a group in one round trip if none of its events is taken; tell whether."""
        head = sql.hoped(group)
        waiting = list(head.waiting)
        rows, rewards = sql.numbered(group, head)
        if any(request.error for request in group):
            for request in group:
                request.error = None
            return False
        columns = zip(*((*row, reward) for _, row, reward in rows), strict=True)
        names = ("kinds", "ids", "times", "values", "datas", "rewards")
        parameters = {
            **dict(zip(names, map(list, columns), strict=True)),
            "bandit": self._bandit,
            "decided": [row.id for _, row, _ in rows if row.kind == DECISION],
            "waiting": waiting,
            "rewarded": list(rewards),
            "places": list(rewards.values()),
            "forms": sql.wants_form(group),
            "channel": self._channel,
            "n": len(rows),
        }
        with self._store_errors():
            with self._writing(at_once=True) as connection:
                cursor = connection.execute(_APPEND, parameters)
            found = cursor.fetchone()
        if found is None:
            return False
        for request in group:
            request.first += found[0]
        return True

    @contextlib.contextmanager
    def _aside(self) -> Iterator["psycopg.Connection[Any]"]:
        with self._readers.one() as connection, connection.transaction():
            yield connection

    def _insert(self, connection: "psycopg.Connection[Any]", rows: Sequence[sql.Inserted]) -> None:
        values = [(self._bandit, position, *row, reward) for position, row, reward in rows]
        columns = f"giro_events (bandit, position, {sql.EVENT}, reward)"
        with connection.cursor() as cursor:
            if len(rows) < _COPIED:
                cursor.executemany(
                    f"INSERT INTO {columns} VALUES (%s, %s, %s, %s, %s, %s, %s, %s)", values
                )
            else:
                with cursor.copy(f"COPY {columns} FROM STDIN (FORMAT BINARY)") as copy:
                    copy.set_types(_COLUMNS)
                    for value in values:
                        copy.write_row(value)
        connection.execute("SELECT pg_notify(%s, %s)", (self._channel, str(rows[-1].position)))

    def wait(self, after: int, seconds: float) -> bool:
        """Return whether there are events after `after`, within `seconds`.

        By LISTEN, polled every `_NAP` s.
        """
        end = clock.monotonic() + seconds
        with self._listening, _store_errors():
            try:
                if self._listener is None or self._listener.closed:
                    self._listener = self._connected()
                    self._listener.execute(f"LISTEN {self._channel}".encode())
                    self._heard = self._last(self._listener)
                while self._heard <= after:
                    left = end - clock.monotonic()
                    if left <= 0.0:
                        return False
                    news = list(self._listener.notifies(timeout=min(left, _NAP), stop_after=1))
                    if news:
                        self._heard = max(int(each.payload) for each in news)
                    elif clock.monotonic() >= self._looked_at + _NAP:
                        self._looked_at = clock.monotonic()
                        self._heard = self._last(self._listener)
                clock.sleep(max(0.0, self._notified_at + _BREATH - clock.monotonic()))
                self._notified_at = clock.monotonic()
                return True
            except BaseException:
                if self._listener is not None:
                    with contextlib.suppress(Exception):
                        self._listener.close()
                self._listener = None
                raise

    def is_keeper(self) -> bool:
        """Return whether this process holds the keeper's lease.

        It is an advisory lock, held for as long as its own connection lives.
        """
        with self._groups.alone(), _store_errors():
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

    connection = psycopg.connect(url, autocommit=True, connect_timeout=_PATIENCE)
    # A plan that is kept was made when the log was short, and would read all of it when it is long.
    connection.execute("SET enable_seqscan = off")
    return connection


def _version(connection: "psycopg.Connection[Any]") -> int:
    found = connection.execute("SELECT to_regclass('giro_version') IS NOT NULL").fetchone()
    if not (found and found[0]):
        return 0
    found = connection.execute("SELECT version FROM giro_version").fetchone()
    return int(found[0]) if found else 0


@contextlib.contextmanager
def _store_errors() -> Iterator[None]:
    """Say what went wrong with the database; its address, which may hold a password, stays out."""
    with needs_extra("a store in PostgreSQL", "psycopg", extra="postgres"):
        import psycopg  # noqa: PLC0415  # an extra

    try:
        yield
    except psycopg.Error as error:
        message = " ".join(str(error).split())
        raise StoreError(f"the store in PostgreSQL fails: {message}") from None
