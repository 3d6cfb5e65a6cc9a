"""All kinds of stores, made empty for each test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from bandit.stores.postgres import new_database, url_or_reason

from giro.bandit.stores import MemoryStore, Store, opened

KINDS = ("memory", "sqlite", "postgres")


def address(kind: str, folder: Path) -> str | None:
    """Return where to keep bandits; None for memory."""
    if kind == "memory":
        return None
    if kind == "sqlite":
        return f"sqlite:///{folder}/bandits.db"
    url, reason = url_or_reason()
    if url is None:
        pytest.skip(reason)
    return new_database(url)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def where(kind: str, tmp_path: Path) -> str | None:
    return address(kind, tmp_path)


@pytest.fixture
def make(where: str | None) -> Iterator[Callable[..., Store]]:
    """Return what opens the store of a bandit; in memory it is the same each time."""
    made: dict[str, Store] = {}
    several: list[Store] = []

    def opener(name: str = "b") -> Store:
        if where is None:
            return made.setdefault(name, MemoryStore())
        several.append(opened(where, name))
        return several[-1]

    yield opener
    for store in several:
        store.close()
