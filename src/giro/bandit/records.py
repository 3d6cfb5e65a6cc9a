"""Records: small JSON documents beside the bandits of a store, as durable as their logs.

A program that runs bandits has more to keep than decisions: keys, settings, results. A record has a
kind, a name and a value, and a version that every change replaces, so that two processes which
change it at once notice. It may end by itself after some seconds.
"""

import json
import os
import secrets
import threading
import time
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self

from giro.bandit.stores import database_at
from giro.bandit.stores._database import Database, let_go, marks, parts_of
from giro.checks import POSITIVE, WORD, check, optional
from giro.errors import BadParameter

_NEW = 0  # the version of a record that there is not


class Record(NamedTuple):
    """The value of a record, and its version: any number but 0."""

    value: Any
    version: int


class _Row(NamedTuple):
    """A record as it is kept: its value is text."""

    kind: str
    name: str
    version: int
    text: str


class _Place(Protocol):
    """Where records are kept."""

    def rows(self, kind: str, names: Sequence[str] | None) -> list[_Row]: ...

    def write(
        self, rows: Sequence[_Row], seconds: float | None, expected: Sequence[int | None]
    ) -> list[bool]: ...

    def delete(self, kind: str, names: Sequence[str]) -> int: ...

    def close(self) -> None: ...


class Records:
    """The records of a store, `sqlite:///FILE` or `postgresql://...`, or of this process.

    >>> records = Records()
    >>> records.put("colour", "sky", {"r": 0, "b": 255})
    True
    >>> records.get("colour", "sky").value["b"]
    255

    Every method may be called by several threads and processes. Writes return when they are
    durable.
    """

    def __init__(self, store: str | os.PathLike[str] | None = None) -> None:
        """Open the records of a store, or new ones in memory."""
        self._place: _Place = _Memory() if store is None else _Tables(database_at(store))

    def get(self, kind: str, name: str) -> Record | None:
        """Return a record, None if there is none of this kind and name."""
        return self.get_many(kind, [name]).get(name)

    def get_many(self, kind: str, names: Iterable[str]) -> dict[str, Record]:
        """Return those of these records that there are, by name."""
        wanted = list(names)
        return _by_name(self._place.rows(kind, wanted)) if wanted else {}

    def all(self, kind: str) -> dict[str, Record]:
        """Return all records of a kind, by name, in order."""
        return dict(sorted(_by_name(self._place.rows(kind, None)).items()))

    def put(
        self,
        kind: str,
        name: str,
        value: Any,
        *,
        expected: int | None = None,
        seconds: float | None = None,
    ) -> bool:
        """Write a record, and return whether it was written.

        With `expected` it is written only if the record has this version, or with 0 if there is
        none. After `seconds` it is gone.
        """
        return self.put_each(kind, [(name, value, expected)], seconds=seconds)[0]

    def put_many(
        self, kind: str, values: Mapping[str, Any], *, seconds: float | None = None
    ) -> None:
        """Write several records of a kind at once."""
        changes = [(name, value, None) for name, value in values.items()]
        self.put_each(kind, changes, seconds=seconds)

    def put_each(
        self,
        kind: str,
        changes: Sequence[tuple[str, Any, int | None]],
        *,
        seconds: float | None = None,
    ) -> list[bool]:
        """Write records at once, each given by the `name`, `value` and `expected` of `put`.

        Return for each whether it was written.
        """
        check("a record", optional(POSITIVE), seconds=seconds)
        for name, *_ in changes:
            check("a record", WORD, kind=kind, name=name)
        rows = [_Row(kind, name, _version(), _text(value)) for name, value, _ in changes]
        return self._place.write(rows, seconds, [change[2] for change in changes]) if rows else []

    def delete(self, kind: str, *names: str) -> int:
        """Delete records, and return how many of them there were."""
        return self._place.delete(kind, names) if names else 0

    def close(self) -> None:
        """Leave the store to others."""
        self._place.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _by_name(rows: Iterable[_Row]) -> dict[str, Record]:
    return {row.name: Record(json.loads(row.text), row.version) for row in rows}


def _version() -> int:
    """Return a version that no record had before: a deleted record does not come back as itself."""
    return 1 + secrets.randbits(60)


def _text(value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise BadParameter(
            f"the value of a record is plain data, as JSON has it: {error}"
        ) from None


class _Memory:
    """Records of this process alone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[tuple[str, str], tuple[_Row, float]] = {}

    def rows(self, kind: str, names: Sequence[str] | None) -> list[_Row]:
        """Return the rows of a kind that are not over."""
        now = time.monotonic()
        with self._lock:
            rows = [row for row, until in self._rows.values() if until > now and row.kind == kind]
        return [row for row in rows if names is None or row.name in names]

    def write(
        self, rows: Sequence[_Row], seconds: float | None, expected: Sequence[int | None]
    ) -> list[bool]:
        """Write those rows that have the expected version."""
        now = time.monotonic()
        until = float("inf") if seconds is None else now + seconds
        written = []
        with self._lock:
            self._rows = {key: each for key, each in self._rows.items() if each[1] > now}
            for row, version in zip(rows, expected, strict=True):
                old, _ = self._rows.get((row.kind, row.name), (None, 0.0))
                written.append(version in (None, _NEW if old is None else old.version))
                if written[-1]:
                    self._rows[row.kind, row.name] = row, until
        return written

    def delete(self, kind: str, names: Sequence[str]) -> int:
        """Delete rows."""
        with self._lock:
            return sum(self._rows.pop((kind, name), None) is not None for name in names)

    def close(self) -> None:
        """Do nothing."""


class _Tables:
    """Records in a table of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._let_go = weakref.finalize(self, let_go, database, id(self))
        self._let_go.atexit = False
        try:
            database.bring_up_to_date()
        except BaseException:
            self.close()
            raise

    def rows(self, kind: str, names: Sequence[str] | None) -> list[_Row]:
        """Return the rows of a kind that are not over."""
        now = self._database.now
        query = (
            "SELECT kind, name, version, value FROM giro_records"
            f" WHERE kind = ? AND (until IS NULL OR until > {now})"
        )
        parts: Iterable[Sequence[str]] = ((),) if names is None else parts_of(names)
        rows = list[Any]()
        for part in parts:
            among = f" AND name IN ({marks(part)})" if part else ""
            rows += self._database.query(query + among, kind, *part)
        return [_Row(*row) for row in rows]

    def write(
        self, rows: Sequence[_Row], seconds: float | None, expected: Sequence[int | None]
    ) -> list[bool]:
        """Write those rows that have the expected version."""
        database = self._database
        until = "NULL" if seconds is None else f"{database.now} + {seconds:f}"
        over = f"DELETE FROM giro_records WHERE until <= {database.now}"
        insert = (
            "INSERT INTO giro_records (kind, name, version, value, until) VALUES"
            f" (?, ?, ?, ?, {until}) ON CONFLICT (kind, name) DO "
        )
        update = (
            "UPDATE SET version = excluded.version, value = excluded.value, until = excluded.until"
        )
        replace = (
            f"UPDATE giro_records SET version = ?, value = ?, until = {until}"
            " WHERE kind = ? AND name = ? AND version = ?"
        )
        written = []
        with database.errors(), database.aside(alone=True) as connection:
            database.ask(connection, over)
            for row, version in zip(rows, expected, strict=True):
                if version:
                    values = (row.version, row.text, row.kind, row.name, version)
                    cursor = database.ask(connection, replace, *values)
                else:
                    how = update if version is None else "NOTHING"
                    cursor = database.ask(connection, insert + how, *row)
                written.append(cursor.rowcount > 0)
        database.sync()
        return written

    def delete(self, kind: str, names: Sequence[str]) -> int:
        """Delete rows."""
        database, gone = self._database, 0
        with database.errors(), database.aside(alone=True) as connection:
            for part in parts_of(names):
                query = f"DELETE FROM giro_records WHERE kind = ? AND name IN ({marks(part)})"
                gone += database.ask(connection, query, kind, *part).rowcount
        database.sync()
        return gone

    def close(self) -> None:
        """Close the database if nobody else uses it."""
        if self._let_go():
            self._database.close()
