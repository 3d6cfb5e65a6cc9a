"""Records keep JSON beside bandits, in every kind of store."""

import threading
from collections.abc import Iterator

import pytest

from giro import BadParameter, Bandit, Records


@pytest.fixture
def records(where: str | None) -> Iterator[Records]:
    with Records(where) as records:
        yield records


def test_a_record_comes_back_as_it_was(records: Records) -> None:
    value = {"name": "é ☃ '", "list": [1, 2.5, None, True], "inner": {}}
    assert records.put("kind", "a name", value)
    record = records.get("kind", "a name")
    assert record is not None
    assert record.value == value
    assert records.get("kind", "another") is None
    assert records.get("another", "a name") is None


def test_all_of_a_kind_come_in_order(records: Records) -> None:
    records.put_many("kind", {"b": 2, "a": 1})
    records.put("other", "c", 3)
    assert [(name, record.value) for name, record in records.all("kind").items()] == [
        ("a", 1),
        ("b", 2),
    ]
    assert records.delete("kind", "a", "b", "c") == 2
    assert records.all("kind") == {}


def test_a_change_of_another_version_is_refused(records: Records) -> None:
    assert records.put("kind", "x", 1, expected=0)
    assert not records.put("kind", "x", 2, expected=0)
    first = records.get("kind", "x")
    assert first is not None and first.value == 1
    assert records.put("kind", "x", 2, expected=first.version)
    assert not records.put("kind", "x", 3, expected=first.version)
    records.delete("kind", "x")
    assert not records.put("kind", "x", 4, expected=first.version)
    assert records.put("kind", "x", 1, expected=0)
    again = records.get("kind", "x")
    assert again is not None and again.version != first.version


def test_of_many_changes_those_of_another_version_are_refused(records: Records) -> None:
    records.put("kind", "x", 1)
    old = records.get("kind", "x")
    assert old is not None
    changes = [("x", 2, old.version), ("x", 3, old.version), ("y", 4, 0), ("y", 5, 0), ("z", 6, 7)]
    assert records.put_each("kind", changes) == [True, False, True, False, False]
    assert {name: each.value for name, each in records.all("kind").items()} == {"x": 2, "y": 4}
    assert records.put_each("kind", [("x", 8, None), ("x", 9, None)]) == [True, True]
    last = records.get("kind", "x")
    assert last is not None and last.value == 9
    assert records.put_each("kind", []) == []


def test_of_many_that_count_at_once_none_is_lost(records: Records) -> None:
    def count() -> None:
        for _ in range(5):
            while True:
                record = records.get("kind", "n")
                version, value = (0, 0) if record is None else (record.version, record.value)
                if records.put("kind", "n", value + 1, expected=version):
                    break

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    record = records.get("kind", "n")
    assert record is not None and record.value == 20


def test_a_record_ends_when_its_time_is_over(records: Records) -> None:
    records.put("kind", "brief", 1, seconds=1e-6)
    records.put("kind", "long", 1, seconds=1000.0)
    while list(records.all("kind")) != ["long"]:
        pass  # clocks of databases count milliseconds
    assert records.put("kind", "brief", 2, expected=0)  # as if it had never been


def test_others_see_a_record_beside_bandits(where: str | None) -> None:
    if where is None:
        return
    with Bandit(list("ab"), "ucb1", store=where, name="b"), Records(where) as mine:
        mine.put("kind", "x", 1)
        with Records(where) as other:
            assert list(other.all("kind")) == ["x"]
    assert Bandit.names(where) == ["b"]


@pytest.mark.parametrize("value", [object(), float("nan"), {1j}])
def test_a_value_is_plain_data(value: object) -> None:
    with pytest.raises(BadParameter, match="plain data"):
        Records().put("kind", "x", value)
