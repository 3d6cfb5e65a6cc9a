"""The functions of PostgreSQL that append."""

from collections.abc import Sequence

import numpy as np
import pytest
from bandit.stores.events import Make, decided

from giro.bandit.event import Event, Reported, Rewarded, row_of
from giro.bandit.stores import Taken, _appending
from giro.errors import StoreError


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
def test_tables_of_an_older_version_get_the_functions(make: Make) -> None:
    store = make()
    database = store.database  # type: ignore[attr-defined]
    with database.pool.one() as connection:
        connection.execute(f"DROP FUNCTION {_appending.NAME}, {_appending.NAME_OF_ONE}")
        connection.execute("UPDATE giro_version SET version = 2")
    database.bring_up_to_date()
    assert store.append([decided("a")]).first == 1
    query = "SELECT proname FROM pg_proc WHERE proname LIKE 'giro%' ORDER BY proname"
    names = [(_appending.NAME,), (_appending.NAME_OF_ONE,)]
    assert store._query(query.replace("%", "%%")) == names  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
def test_words_of_every_kind_come_back(make: Make) -> None:
    store = make()
    words = [
        '"',
        "\\",
        "\\x41",
        "{a,b}",
        "NULL",
        "null",
        " ",
        "it's",
        "%s",
        "\n\t",
        "😀",
        "é",
        "a'; --",
    ]
    events: list[Event] = [decided(word) for word in words]
    events += [Reported(word, 2.0, 0.1, word) for word in words]
    events += [Rewarded(word, 3.0, np.float64(1 / 3)) for word in words[:5]]
    store.append(events[:20])
    store.append(events[20:])
    assert [row_of(event) for event in store.read(0, 100)] == [row_of(event) for event in events]
    assert store.find(words).keys() == set(words)


_REWARD = row_of(Rewarded("d7", 3.0, 1.0))
_COLUMNS = ([field] for field in (*_REWARD, None))
_LISTS = (["d7"], [], [], None, *_COLUMNS, ["d7"], [1])
_TEXTS = [_appending.array_text(each) if isinstance(each, list) else each for each in _LISTS]


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
@pytest.mark.parametrize(
    ("call", "parameters"), [(_appending.CALL, _TEXTS), (_appending.CALL_OF_ONE, _REWARD)]
)
def test_a_reward_reads_its_decision_and_not_all_that_wait(
    make: Make, call: str, parameters: Sequence[object]
) -> None:
    store = make()
    store.append([decided(f"d{i}") for i in range(500)])
    with store.database.pool.one() as connection, connection.transaction():  # type: ignore[attr-defined]
        (last, *_), *_ = connection.execute(call, [1, *parameters, None]).fetchall()
        query = "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables"
        query += " WHERE relname = 'giro_events'"
        ((n_read,),) = connection.execute(query).fetchall()
    assert last == 500
    assert n_read < 10
    assert store.find(["d7"])["d7"].reward == Rewarded("d7", 3.0, 1.0)


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
def test_one_event_and_others_beside_it_take_the_cheapest_way(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make()
    monkeypatch.setattr("giro.bandit.stores.postgres.CALL", "no query")
    store.append([decided("a")])
    store.append([Rewarded("a", 2.0, 1.0)])
    with pytest.raises(Taken):
        store.append([Rewarded("a", 3.0, 1.0)])
    for events in ([Reported("a", 4.0, 1.0)], [decided("b"), decided("c")]):
        with pytest.raises(StoreError, match="placeholders"):
            store.append(events)
    assert store.last() == 2
