"""PostgreSQL: the log in a database, for many processes on many machines.

Positions are given out under an advisory lock of the bandit that is held until the commit. With a
sequence, numbers would be given before commits: a reader that has seen 7 could meet 6 only later,
and would never read it.

An append is one call of a function of the database, a cheaper one for a single decision or reward.
It looks whether all of a group can be appended, appends it, and answers with what others have
appended meanwhile. What is refused, and what is large, takes the way of several round trips that
all databases share. If other processes append, too, the lock is given back before the disk is
waited for: the commit is asynchronous, and a second one, of a message that nobody reads, flushes
the log up to itself before `append` returns. Where many threads append, one such flush does for
several groups.
"""

import contextlib
import selectors
import threading
import time as clock
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from giro.bandit.event import EventRow, event_of
from giro.bandit.stores._appending import (
    CALL,
    CALL_OF_ONE,
    FUNCTION,
    FUNCTION_OF_ONE,
    LOCKS,
    array_text,
)
from giro.bandit.stores._database import Database, shared
from giro.bandit.stores._groups import (
    Groups,
    Inserted,
    Numbered,
    Request,
    Unreachable,
    forms_before,
    numbered,
    optimistic_head,
    tell_all,
)
from giro.bandit.stores._schema import DECISION, EVENT, REWARD, VERSION
from giro.bandit.stores._sql import SqlStore
from giro.bandit.stores._telling import QUIET, Telling
from giro.bandit.stores.store import names_of
from giro.errors import StoreError, needs_extra

if TYPE_CHECKING:
    import psycopg

_COLUMNS = ["int8", "int8", "int2", "text", "float8", "float8", "bytea", "int8"]
_COPIED = 64  # rows from which COPY is quicker than INSERT
_NEWS = 20_000  # copied rows, if a tenth of the log, after which statistics are taken again
_NAP = 5.0  # seconds after which a listener that heard nothing looks for itself
_GLANCE = 0.2  # seconds after which it looks whether it is still needed
_BREATH = 0.005  # seconds between two reports of more events: those of a busy log come together
_PATIENCE = 10  # seconds for a connection
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"  # each statement sees what others committed
_LOCK = "SELECT pg_advisory_xact_lock(%s)"
# Who notifies holds a lock of the whole database until the commit, so that should not wait for the
# disk.
_TELL = "SELECT set_config('synchronous_commit', 'off', true), pg_notify('giro', %s)"
_FLUSH = "SELECT pg_logical_emit_message(true, 'giro', '')"
# A plan that is kept was made when the log was short, and would read all of it when it is long, so
# none reads tables from end to end. That rule makes plans look dear, and those that look dear are
# compiled, which takes a second on a busy machine. Every query has one good plan, and finding it
# again takes as long as an append.
_SESSION = "SET enable_seqscan = off; SET jit = off; SET plan_cache_mode = force_generic_plan"
_OUTSIDE = ("08", "53", "57")  # classes of errors: connection, resources, operator


def opened(url: str, name: object) -> SqlStore:
    """Return the store of a bandit in a database."""
    return SqlStore(shared(PostgresDatabase, url), name)


def names(url: str) -> list[str]:
    """Return the names of the bandits in a database."""
    with _errors(), contextlib.closing(_connect(url)) as connection:
        if _version(connection) == 0:
            return []
        rows = connection.execute("SELECT name FROM giro_bandits ORDER BY name").fetchall()
    return [name for (name,) in rows]


class PostgresDatabase(Database):
    """A PostgreSQL database: threads share commits and connections, followers are notified."""

    types: ClassVar = {
        "key": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        "real": "DOUBLE PRECISION",
        "blob": "BYTEA",
    }
    now = "extract(epoch FROM clock_timestamp())"
    most = 6

    def __init__(self, where: str) -> None:
        """Prepare, without connecting."""
        super().__init__(where)
        self._telling = Telling()
        self._n_copied = 0  # since statistics were taken

    def connected(self) -> "psycopg.Connection[Any]":
        """Return a new connection."""
        return _connect(self.where)

    def errors(self) -> contextlib.AbstractContextManager[None]:
        """Keep the address, which may hold a password, out."""
        return _errors()

    def text(self, query: str) -> Any:
        """Return a query with psycopg's marks. None of ours holds a ? that is not one."""
        return query.replace("?", "%s").encode()

    def groups(self) -> Groups:
        """Return new ones: logs of different bandits are written at the same time."""
        groups = Groups(self.commit, self.sync)
        self.all_groups.add(groups)
        return groups

    @contextlib.contextmanager
    def writing(self, bandit: int = 0) -> Iterator["psycopg.Connection[Any]"]:
        """Lend a connection in a transaction that holds the lock of a log, or of other tables."""
        with self.pool.one() as connection:
            connection.execute(_BEGIN)
            connection.execute(_LOCK, (LOCKS + bandit,))
            yield connection
            connection.execute("COMMIT")

    @contextlib.contextmanager
    def aside(self, *, alone: bool = False) -> Iterator["psycopg.Connection[Any]"]:
        """Lend a connection in a transaction."""
        with self.writing() if alone else self._transaction() as connection:
            yield connection

    @contextlib.contextmanager
    def _transaction(self) -> Iterator["psycopg.Connection[Any]"]:
        with self.pool.one() as connection, connection.transaction():
            yield connection

    def commit(self, group: list[Request]) -> None:
        """Append a group at once, or if that cannot be, in several steps."""
        is_large = sum(len(request.events) for request in group) >= _COPIED
        is_special = any(request.expected is not None for request in group)
        if is_large or is_special or not self.committed_at_once(group):
            super().commit(group)
            for request in group:
                request.is_durable = request.error is None

    def sync(self) -> None:
        """Wait until all commits are on the disk."""
        with self.errors(), self.pool.one() as connection:
            connection.execute(_FLUSH)

    def committed_at_once(self, group: list[Request]) -> bool:
        """Append a group in one round trip if none of its events is taken, and return whether."""
        head = optimistic_head(group)
        awaited = list(head.waiting)
        changes = numbered(group, head)
        if any(request.error for request in group):
            for request in group:
                request.error = None
            return False
        rows, bandit = changes.rows, group[0].bandit
        known = max((each.known for each in group if each.known is not None), default=None)
        if len(rows) == 1 and rows[0].row.kind in (DECISION, REWARD):
            call, parameters = CALL_OF_ONE, (bandit, *rows[0].row, known)
        else:
            call, parameters = CALL, (bandit, *_lists(group, awaited, changes), known)
        with self.errors(), self.pool.one() as connection:
            answer = connection.execute(call, parameters).fetchall()
            if not answer:
                return False
            last = answer[0][0]
            if self._telling.is_due(bandit):
                self._tell(connection, bandit, last + len(rows))
            else:
                self._telling.held_back(bandit, last + len(rows))
                self.watch.hurry()
        missed = [event_of(EventRow(*row[1:])) for row in answer[1:]]
        if last - len(missed) != known:  # they are many, or some have left the log
            missed = []
        for request in group:
            request.first += last
            request.is_durable = known is None or last <= known
        tell_all(group, last - len(missed), missed)
        return True

    def _tell(self, connection: "psycopg.Connection[Any]", bandit: int, position: int) -> None:
        """Notify followers."""
        connection.execute(_TELL, (f"{bandit} {position}",))
        self._telling.told(bandit, position)

    def do_chores(self) -> None:
        """Notify followers of news that were held back."""
        clock.sleep(QUIET)
        for bandit, position in self._telling.take().items():
            with self.errors(), self.pool.one() as connection:
                self._tell(connection, bandit, position)

    def version(self, connection: "psycopg.Connection[Any]") -> int:
        """Return the version in its table."""
        return _version(connection)

    def set_version(self, connection: "psycopg.Connection[Any]") -> None:
        """Note it there, and make the functions that append."""
        connection.execute("CREATE TABLE IF NOT EXISTS giro_version (version BIGINT NOT NULL)")
        connection.execute(FUNCTION.encode())
        connection.execute(FUNCTION_OF_ONE.encode())
        connection.execute("DELETE FROM giro_version")
        connection.execute("INSERT INTO giro_version VALUES (%s)", (VERSION,))

    def insert(
        self, connection: "psycopg.Connection[Any]", bandit: int, rows: Sequence[Inserted]
    ) -> None:
        """Insert rows, many of them by COPY, and notify followers."""
        values = [(bandit, position, *row, reward) for position, row, reward in rows]
        columns = f"giro_events (bandit, position, {EVENT}, reward)"
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
                self._n_copied += len(rows)
                if self._n_copied >= max(_NEWS, rows[-1].position // 10):
                    self._n_copied = 0
                    cursor.execute("ANALYZE giro_events")  # plans count on a short log until then
        connection.execute("SELECT pg_notify('giro', %s)", (f"{bandit} {rows[-1].position}",))

    def listen(self, stop: threading.Event) -> Generator[dict[int, int], None, None]:
        """Hear of news, and look at first and now and then for news that were missed."""
        with self.errors(), contextlib.closing(self.connected()) as connection:
            connection.execute("LISTEN giro")
            selector, looked_at = selectors.DefaultSelector(), -_NAP
            selector.register(connection.fileno(), selectors.EVENT_READ)
            with contextlib.closing(selector):
                while not stop.is_set():
                    if clock.monotonic() >= looked_at + _NAP:
                        looked_at = clock.monotonic()
                        yield self.positions(connection, self.watch.watched())
                    if selector.select(_GLANCE):
                        notes = (note.payload.split() for note in connection.notifies(timeout=0))
                        yield {int(bandit): int(position) for bandit, position in notes}
                        stop.wait(_BREATH)


def _connect(url: str) -> "psycopg.Connection[Any]":
    with needs_extra("a store in PostgreSQL", "psycopg", extra="postgres"):
        import psycopg  # noqa: PLC0415  # an extra

    connection = psycopg.connect(url, autocommit=True, connect_timeout=_PATIENCE)
    try:
        connection.execute(_SESSION)
    except BaseException:
        connection.close()
        raise
    return connection


def _lists(group: Sequence[Request], awaited: Iterable[str], changes: Numbered) -> list[Any]:
    """Return the arguments of the function that appends, without its bandit and `known`."""
    columns = zip(*((*row, reward) for _, row, reward in changes.rows), strict=True)
    reported = [each for request in group for each in names_of(request.events)]
    return [
        array_text(awaited),
        array_text(id for id, _ in reported),
        array_text(name.encode() for _, name in reported),
        forms_before(group),
        *map(array_text, columns),
        array_text(changes.rewards),
        array_text(changes.rewards.values()),
    ]


def _version(connection: "psycopg.Connection[Any]") -> int:
    # Not by to_regclass: within a transaction it may remember that there was no such table.
    tables = "SELECT 1 FROM pg_class WHERE relname = 'giro_version' AND pg_table_is_visible(oid)"
    if connection.execute(tables.encode()).fetchone() is None:
        return 0
    row = connection.execute("SELECT version FROM giro_version").fetchone()
    return int(row[0]) if row else 0


@contextlib.contextmanager
def _errors() -> Iterator[None]:
    """Explain an error of the database, without its address, which may hold a password."""
    with needs_extra("a store in PostgreSQL", "psycopg", extra="postgres"):
        import psycopg  # noqa: PLC0415  # an extra

    try:
        yield
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        is_outside = error.sqlstate is None or error.sqlstate.startswith(_OUTSIDE)
        raise (Unreachable if is_outside else StoreError)(_sentence(error)) from None
    except psycopg.Error as error:
        raise StoreError(_sentence(error)) from None


def _sentence(error: Exception) -> str:
    return f"the store in PostgreSQL fails: {' '.join(str(error).split())}"
