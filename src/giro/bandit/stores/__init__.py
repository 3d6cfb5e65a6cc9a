"""Where bandits are kept: in memory, in a SQLite file, in PostgreSQL."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from giro.bandit.stores.memory import MemoryStore
from giro.bandit.stores.store import FoundDecision, Snapshot, Store, Taken
from giro.errors import BadParameter

__all__ = ["FoundDecision", "MemoryStore", "Snapshot", "Store", "Taken", "names_in", "opened"]


def opened(store: object, name: object) -> Store:
    """Return the store of a bandit; see `Bandit` for what can be written."""
    kind, where = _parsed(store)
    if kind == "sqlite":
        from giro.bandit.stores.sqlite import SqliteStore  # noqa: PLC0415  # quick start

        return SqliteStore(Path(where), name)
    from giro.bandit.stores.postgres import PostgresStore  # noqa: PLC0415  # an extra

    return PostgresStore(where, name)


def names_in(store: object) -> list[str]:
    """Return the names of the bandits in a store."""
    kind, where = _parsed(store)
    if kind == "sqlite":
        from giro.bandit.stores.sqlite import SqliteStore  # noqa: PLC0415  # quick start

        return SqliteStore.names(Path(where))
    from giro.bandit.stores.postgres import PostgresStore  # noqa: PLC0415  # an extra

    return PostgresStore.names(where)


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
