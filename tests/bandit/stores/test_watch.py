"""One follower and one set of connections for all stores of a place."""

import gc
import threading
from pathlib import Path
from typing import Any

import pytest
from bandit.stores.events import Make, decided

from giro.bandit.stores import _watch, opened

pytestmark = pytest.mark.parametrize("kind", ["sqlite", "postgres"], indirect=True)


class Owner:
    """A bandit, as a store sees it."""

    def __init__(self, store: Any) -> None:
        self.store, self.position = store, store.last()
        self.heard, self.tended = threading.Event(), threading.Event()

    def news(self, position: int) -> None:
        assert position > 0
        self.position += len(self.store.read(self.position, 100))
        self.heard.set()

    def chores(self) -> None:
        self.tended.set()


def test_who_subscribed_hears_of_news_and_does_chores(make: Make) -> None:
    owner, other = Owner(make()), make()
    owner.store.subscribe(owner.news, owner.chores)
    other.append([decided("a")])
    assert owner.heard.wait(600.0)
    assert owner.position == 1
    assert owner.tended.wait(600.0)


def test_who_hears_of_one_bandit_does_not_hear_of_others(make: Make) -> None:
    one, two = Owner(make("one")), Owner(make("two"))
    for owner in (one, two):
        owner.store.subscribe(owner.news, owner.chores)
    make("two").append([decided("a")])
    assert two.heard.wait(600.0)
    assert not one.heard.is_set()


def test_many_bandits_share_two_threads(make: Make) -> None:
    before = set(threading.enumerate())
    owners = [Owner(make(f"bandit {n}")) for n in range(40)]
    for owner in owners:
        owner.store.subscribe(owner.news, owner.chores)
        owner.store.append([decided("a")])
    others = [make(f"bandit {n}") for n in range(40)]
    for other in others:
        other.append([decided("b")])
    for owner in owners:
        while owner.position < 2:  # a test that hangs fails
            owner.heard.wait(600.0)
            owner.heard.clear()
    started = {thread.name for thread in set(threading.enumerate()) - before}
    assert started == {"giro news", "giro chores"}
    assert len({id(owner.store.database) for owner in owners}) == 1


def test_who_is_gone_is_forgotten(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_watch, "_CHORES", 0.01)
    store: Any = make()
    owner = Owner(store)
    store.subscribe(owner.news, owner.chores)
    owner.tended.wait()
    del owner
    gc.collect()
    pause = threading.Event()
    while store.database.watch._subscribers:  # a test that hangs fails
        pause.wait(0.01)


def test_a_database_is_closed_after_its_last_store(where: str) -> None:
    one: Any = opened(where, "one")
    two: Any = opened(where, "two")
    database = one.database
    assert two.database is database
    two.wait(0, 0.0)
    one.close()
    one.close()
    two.append([decided("a")])
    two.close()
    assert database.pool._free == []
    again: Any = opened(where, "one")
    assert again.database is not database
    again.close()
    lost: Any = opened(where, "one")  # nobody closes it
    database = lost.database
    del lost
    gc.collect()
    assert database.n_stores == 0


def test_an_error_of_one_does_not_stop_the_others(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing(Owner):
        def news(self, position: int) -> None:
            raise RuntimeError("broken")

    bad, good = Failing(make("x")), Owner(make("x"))
    for owner in (bad, good):
        owner.store.subscribe(owner.news, owner.chores)
    for n in range(3):
        good.heard.clear()
        make("x").append([decided(f"{n}")])
        assert good.heard.wait(600.0)
    assert [record.message for record in caplog.records] == ["following a log fails: broken"]
