"""The stores of one place share a database."""

import os
from pathlib import Path
from typing import Any

import pytest
from bandit.stores.events import Make, decided, plain
from bandit.stores.test_groups import together

from giro.bandit.stores import _database, opened


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_bandits_in_one_file_share_a_transaction(make: Make) -> None:
    one: Any = make("one")
    two: Any = make("two")
    one.append([decided("before")])
    turns: list[int] = []
    commit = one._groups._commit

    def counted(group: Any) -> None:
        turns.append(len(group))
        commit(group)

    one._groups._commit = counted
    calls = [
        lambda: one.append([decided("a")]),
        lambda: two.append([decided("a")]),
        lambda: one.append([decided("b")]),
    ]
    assert [answer.first for answer in together(one._groups, calls)] == [2, 1, 3]
    assert turns == [3]
    assert plain(two.read(0, 9)) == plain([decided("a")])


def test_a_place_has_one_database_whatever_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "x.db")
    stores: list[Any] = [
        opened(f"sqlite:///{tmp_path}/{path}", "x")
        for path in ("x.db", "../" + tmp_path.name + "/x.db", "link")
    ]
    assert len({id(store.database) for store in stores}) == 1
    for store in stores:
        store.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_nothing_of_sqlite_is_open_while_a_process_forks(tmp_path: Path) -> None:
    store: Any = opened(f"sqlite:///{tmp_path}/x.db", "x")
    store.append([decided("a")])
    assert store.wait(0, 600.0)
    _database._before_fork()
    try:
        assert store.database.pool._free == []
        assert store.database._watcher is None
    finally:
        _database._after_fork_in_parent()
    store.append([decided("b")])
    assert store.wait(1, 600.0)
    store.close()
