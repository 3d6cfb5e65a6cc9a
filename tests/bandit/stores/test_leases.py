"""Of all processes on a database, one keeps a bandit."""

from types import SimpleNamespace
from typing import Any

import pytest
from bandit.stores.events import Make

from giro.bandit.stores import _leases
from giro.bandit.stores._sql import SqlStore

pytestmark = pytest.mark.parametrize("kind", ["sqlite", "postgres"], indirect=True)


def of_another_process(store: Any) -> Any:
    """Return a store with a database of its own, as another process has."""
    database = type(store.database)(store.database.where)
    database.n_stores = 1
    return SqlStore(database, store.name)


def test_another_process_takes_over_when_the_keeper_closes(make: Make) -> None:
    store = make()
    other = of_another_process(store)
    assert store.is_keeper()
    assert not other.is_keeper()
    store.close()
    other.database.leases._asked_at -= 60.0  # a minute later
    assert other.is_keeper()
    other.close()


def test_chores_that_begin_late_do_not_make_a_closed_store_the_keeper(make: Make) -> None:
    store, other = make(), make()
    assert store.is_keeper()
    store.close()
    assert not store.is_keeper()
    assert other.is_keeper()


def test_a_keeper_that_is_silent_loses_its_lease(make: Make) -> None:
    store: Any = make()
    other = of_another_process(store)
    assert store.is_keeper()
    store._write_aside(("UPDATE giro_processes SET until = until - 60.0",))
    assert other.is_keeper()
    store.database.leases._asked_at -= 60.0
    assert not store.is_keeper()
    other.close()


def test_a_lease_of_a_clock_far_ahead_does_not_last_for_ever(make: Make) -> None:
    store: Any = make()
    other = of_another_process(store)
    assert store.is_keeper()
    store._write_aside(("UPDATE giro_processes SET until = until + 1000000.0",))
    assert other.is_keeper()
    other.close()


def test_many_bandits_are_asked_for_at_once(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(monotonic=lambda: 0.0)  # which stands until it is set forward
    monkeypatch.setattr(_leases, "time", clock)
    monkeypatch.setattr(_leases, "LEASE", 3600.0)  # of the database, whose clock goes on
    keepers, others = [make(f"{n}") for n in range(10)], []
    assert all(store.is_keeper() for store in keepers)
    first = of_another_process(keepers[0])
    for store in keepers:
        first.database.n_stores += 1
        others.append(SqlStore(first.database, store.name))  # type: ignore[attr-defined]
    assert not any(store.is_keeper() for store in others)
    asked: list[int] = []
    ask = _leases.Leases._ask

    def counted(self: _leases.Leases, bandits: Any) -> Any:
        asked.append(len(bandits))
        return ask(self, bandits)

    monkeypatch.setattr(_leases.Leases, "_ask", counted)
    for now, n_asked in ((0.1, 2), (1.5, 3), (4.0, 5), (4.1, 5)):  # who keeps none asks more often
        monkeypatch.setattr(clock, "monotonic", lambda now=now: now)
        assert all(store.is_keeper() for store in keepers)
        assert not any(store.is_keeper() for store in others)
        assert asked == [10] * n_asked
    for store in (*others, first):
        store.close()
