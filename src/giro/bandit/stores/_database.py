"""Database: the connections, threads and leases that the stores of one place share in a process.

There is one for each address and process, however many bandits are kept there: it holds the
connections, the threads and the leases, and says how its kind of database does things.
"""

import contextlib
import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, TypeVar

from giro.bandit.stores._groups import (
    Groups,
    Head,
    Inserted,
    Numbered,
    Request,
    forms_before,
    numbered,
    tell_all,
)
from giro.bandit.stores._leases import Leases
from giro.bandit.stores._pool import Pool
from giro.bandit.stores._schema import (
    DECISION,
    FORM,
    REPORT,
    VERSION,
    check_version,
    statements,
)
from giro.bandit.stores._watch import Watch
from giro.bandit.stores.store import ids_of, names_of

IDS = 500  # in one query

_OPEN: dict[tuple[type, str], "Database"] = {}
_REGISTRY = threading.RLock()  # also taken by the garbage collector, in any thread

D = TypeVar("D", bound="Database")


def shared(kind: type[D], where: str) -> D:
    """Return the database of this process at a place, until `let_go`."""
    with _REGISTRY:
        database = _OPEN.get((kind, where))
        if database is None:
            database = _OPEN[kind, where] = kind(where)
        database.n_stores += 1
    assert isinstance(database, kind)
    return database


def let_go(database: "Database", store: int) -> bool:
    """Forget a store, and return whether it was the last one of its database.

    The garbage collector may call this in the middle of anything, so it waits for nothing.
    """
    database.watch.forget(store)
    database.leases.forget(store)
    with _REGISTRY:
        database.n_stores -= 1
        is_last = database.n_stores == 0
        if is_last:
            _OPEN.pop((type(database), database.where), None)
            database.watch.stop()
            database.pool.end()
    return is_last


class Database(ABC):
    """One database in one process.

    Queries mark parameters by `?`; `text` turns them into what the database reads.
    """

    types: ClassVar[Mapping[str, str]]  # see `_schema`
    now: ClassVar[str]  # an expression: seconds by the clock of the database
    most: ClassVar[int]  # connections at a time, without the follower's

    def __init__(self, where: str) -> None:
        """Prepare, without opening anything."""
        self.where, self.n_stores = where, 0
        self.pool: Pool[Any] = Pool(self.connected, most=self.most)
        self.leases, self.watch = Leases(self), Watch(self)
        self.all_groups: weakref.WeakSet[Groups] = weakref.WeakSet()

    # -- what kinds of databases differ in -----------------------------------------------------

    @abstractmethod
    def connected(self) -> Any:
        """Return a new connection."""

    @abstractmethod
    def errors(self) -> AbstractContextManager[None]:
        """Turn errors of the database into a `StoreError`."""

    @abstractmethod
    def writing(self, bandit: int) -> AbstractContextManager[Any]:
        """Lend a connection on which all or nothing is written, while nobody else writes a log."""

    @abstractmethod
    def aside(self, *, alone: bool = False) -> AbstractContextManager[Any]:
        """Lend one for other tables, where the database lets others append meanwhile.

        With `alone` nobody else does the same. It need not be durable.
        """

    @abstractmethod
    def groups(self) -> Groups:
        """Return the groups that a store appends with."""

    @abstractmethod
    def version(self, connection: Any) -> int:
        """Return the version of the tables, 0 if there are none."""

    @abstractmethod
    def set_version(self, connection: Any) -> None:
        """Note that the tables have this giro's version."""

    @abstractmethod
    def insert(self, connection: Any, bandit: int, rows: Sequence[Inserted]) -> None:
        """Insert rows, and let followers know."""

    @abstractmethod
    def listen(self, stop: threading.Event) -> Generator[dict[int, int], None, None]:
        """Yield the last positions of bandits whose logs have grown, until `stop`."""

    def sync(self) -> None:  # noqa: B027  # few need it
        """Make commits durable, unless they are."""

    def overwrite(self) -> None:  # noqa: B027  # few need it
        """Write over erased data, unless commits do."""

    def do_chores(self) -> None:  # noqa: B027  # few need it
        """Do the work of the background, now and then."""

    def before_fork(self) -> None:  # noqa: B027  # few need it
        """Prepare for a fork."""

    def after_fork_in_parent(self) -> None:  # noqa: B027  # few need it
        """Go on."""

    def after_fork_in_child(self) -> None:
        """Leave everything of the parent process alone."""
        self.pool.renew()
        self.leases.renew()
        self.watch.renew()
        for groups in self.all_groups:
            groups.renew()

    def close(self) -> None:
        """Close all connections, when nobody uses them any more."""
        self.pool.pause()
        self.pool.close()
        self.pool.go_on()

    # -- asking --------------------------------------------------------------------------------

    def text(self, query: str) -> Any:
        """Return a query as the database reads it."""
        return query

    def ask(self, connection: Any, query: str, *parameters: Any) -> Any:
        """Return the cursor of a query."""
        return connection.execute(self.text(query), parameters)

    def query(self, query: str, *parameters: Any) -> list[Any]:
        """Return the rows of a query."""
        with self.errors(), self.pool.one() as connection:
            return list(self.ask(connection, query, *parameters).fetchall())

    def bandit_of(self, name: str) -> int:
        """Return the number of a bandit, and give it one and make tables if needed."""
        self.bring_up_to_date()
        with self.errors():
            query = "SELECT bandit FROM giro_bandits WHERE name = ?"
            rows = self.query(query, name)
            if not rows:
                insert = "INSERT INTO giro_bandits (name) VALUES (?) ON CONFLICT (name) DO NOTHING"
                with self.aside() as connection:
                    self.ask(connection, insert, name)
                rows = self.query(query, name)
            return int(rows[0][0])

    def bring_up_to_date(self) -> None:
        """Make tables, or change those of an older version."""
        with self.errors():
            with self.pool.one() as connection:
                version = self.version(connection)
            if version != VERSION:
                self._make_tables()

    def _make_tables(self) -> None:
        with self.aside(alone=True) as connection:
            version = self.version(connection)
            check_version(version)
            for statement in statements(version, self.types):
                self.ask(connection, statement)
            self.set_version(connection)
        self.sync()

    def last_positions(self, bandits: Sequence[int]) -> dict[int, int]:
        """Return the last positions of logs."""
        with self.errors(), self.pool.one() as connection:
            return self.positions(connection, bandits)

    def positions(self, connection: Any, bandits: Sequence[int]) -> dict[int, int]:
        """Return the last positions of logs, by a connection."""
        positions: dict[int, int] = {}
        for part in parts_of(bandits):
            query = (
                "SELECT bandit, (SELECT max(position) FROM giro_events"
                " WHERE giro_events.bandit = giro_bandits.bandit) FROM giro_bandits"
                f" WHERE bandit IN ({marks(part)})"
            )
            rows = self.ask(connection, query, *part).fetchall()
            positions.update({bandit: int(position or 0) for bandit, position in rows})
        return positions

    # -- appending -----------------------------------------------------------------------------

    def commit(self, group: list[Request]) -> None:
        """Append a group, of one bandit unless the database writes for all at once."""
        with self.errors(), self.writing(group[0].bandit) as connection:
            for bandit in dict.fromkeys(request.bandit for request in group):
                requests = [request for request in group if request.bandit == bandit]
                self.append(connection, bandit, requests)

    def append(self, connection: Any, bandit: int, group: list[Request]) -> None:
        """Append the requests of one bandit, within a transaction."""
        head = self._head(connection, bandit, group)
        rows, rewards = numbered(group, head)
        tell_all(group, head.position)
        if rows:
            self.insert(connection, bandit, rows)
            self._mark_rewarded(connection, bandit, Numbered(rows, rewards))

    def _mark_rewarded(self, connection: Any, bandit: int, numbered: Numbered) -> None:
        query = (
            f"UPDATE giro_events SET reward = ? WHERE bandit = ? AND id = ? AND kind = {DECISION}"
        )
        marked = [(position, bandit, id) for id, position in numbered.rewards.items()]
        if marked:
            connection.cursor().executemany(self.text(query), marked)

    def _head(self, connection: Any, bandit: int, group: list[Request]) -> Head:
        ids = list({id for request in group for id in ids_of(request.events)})
        waiting: dict[str, bool] = {}
        for part in parts_of(ids):
            # A look for each id: given a list, PostgreSQL reads all of a log it knows as short.
            query = (
                f"WITH wanted (id) AS (VALUES {', '.join(['(?)'] * len(part))})"
                " SELECT id, (SELECT reward IS NULL FROM giro_events WHERE bandit = ?"
                f" AND kind = {DECISION} AND giro_events.id = wanted.id) FROM wanted"
            )
            rows = self.ask(connection, query, *part, bandit).fetchall()
            waiting.update({id: bool(waits) for id, waits in rows if waits is not None})
        named = set[tuple[str, str]]()
        for part in parts_of(ids) if any(names_of(request.events) for request in group) else ():
            query = (
                "SELECT id, data FROM giro_events WHERE bandit = ?"
                f" AND kind = {REPORT} AND data IS NOT NULL AND id IN ({marks(part)})"
            )
            rows = self.ask(connection, query, bandit, *part).fetchall()
            named.update((id, bytes(data).decode()) for id, data in rows)
        forms = 0
        if forms_before(group) is not None:
            query = f"SELECT count(*) FROM giro_events WHERE bandit = ? AND kind = {FORM}"
            (forms,) = self.ask(connection, query, bandit).fetchone()
        return Head(self.last(connection, bandit), waiting, named, forms)

    def last(self, connection: Any, bandit: int) -> int:
        """Return the position of the last event of a log."""
        query = "SELECT max(position) FROM giro_events WHERE bandit = ?"
        return int(self.ask(connection, query, bandit).fetchone()[0] or 0)


def parts_of(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Yield as many values at a time as a query takes."""
    for begin in range(0, len(values), IDS):
        yield values[begin : begin + IDS]


def marks(values: Sequence[Any]) -> str:
    """Return a mark for each parameter."""
    return ", ".join("?" * len(values))


# -- forks -----------------------------------------------------------------------------------

_forking: list[Database] = []


def _before_fork() -> None:
    _REGISTRY.acquire()
    for database in list(_OPEN.values()):
        database.before_fork()
        _forking.append(database)


def _after_fork_in_parent() -> None:
    while _forking:
        _forking.pop().after_fork_in_parent()
    _REGISTRY.release()


def _after_fork_in_child() -> None:
    while _forking:
        with contextlib.suppress(Exception):
            _forking.pop().after_fork_in_child()
    _REGISTRY.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
