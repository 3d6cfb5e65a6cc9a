"""Where bandits are kept: in memory, in a SQLite file, in PostgreSQL."""

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from giro.bandit.stores import _database  # its fork hooks come before bandits'
from giro.bandit.stores.memory import MemoryStore
from giro.bandit.stores.store import (
    DEPTH,
    MAX_ID,
    Appended,
    FoundDecision,
    Gone,
    Milestone,
    Snapshot,
    Store,
    Taken,
    check_ids,
)
from giro.errors import BadParameter

__all__ = [
    "DEPTH",
    "MAX_ID",
    "Appended",
    "FoundDecision",
    "Gone",
    "MemoryStore",
    "Milestone",
    "Snapshot",
    "Store",
    "Taken",
    "check_ids",
    "database_at",
    "names_in",
    "opened",
]


def opened(store: object, name: object) -> Store:
    """Return the store of a bandit at an address, see `Bandit`."""
    kind, where = _parsed(store)
    if kind == "sqlite":
        from giro.bandit.stores import sqlite  # noqa: PLC0415  # quick start

        return sqlite.opened(Path(where), name)
    from giro.bandit.stores import postgres  # noqa: PLC0415  # an extra

    return postgres.opened(where, name)


def database_at(store: object) -> _database.Database:
    """Return the database at an address, to be let go."""
    kind, where = _parsed(store)
    if kind == "sqlite":
        from giro.bandit.stores import sqlite  # noqa: PLC0415  # quick start

        return _database.shared(sqlite.SqliteDatabase, os.path.realpath(where))
    from giro.bandit.stores import postgres  # noqa: PLC0415  # an extra

    return _database.shared(postgres.PostgresDatabase, where)


def names_in(store: object) -> list[str]:
    """Return the names of the bandits in a store."""
    kind, where = _parsed(store)
    if kind == "sqlite":
        from giro.bandit.stores import sqlite  # noqa: PLC0415  # quick start

        return sqlite.names(Path(where))
    from giro.bandit.stores import postgres  # noqa: PLC0415  # an extra

    return postgres.names(where)


def _parsed(store: object) -> tuple[str, str]:
    """Return the kind of a store, and where it is."""
    url = str(store) if isinstance(store, str | Path) else ""
    scheme = urlsplit(url).scheme
    if scheme in ("postgresql", "postgres"):
        return "postgres", url
    if url.startswith("sqlite:///") and len(url) > len("sqlite:///"):
        return "sqlite", unquote(url.removeprefix("sqlite:///"))
    shown = f"{scheme}:..." if scheme else repr(store)  # an address may hold a password
    raise BadParameter(f"a store is sqlite:///FILE or postgresql://USER@HOST/DATABASE, got {shown}")
