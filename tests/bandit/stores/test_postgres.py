"""PostgreSQL: a server that goes and comes back, and groups written in one round trip."""

import threading
from pathlib import Path
from typing import Any

import pytest
from bandit.conftest import address
from bandit.stores.events import Make, decided, plain
from bandit.stores.postgres import pull_the_plug, start_again

from giro import Bandit
from giro.bandit.event import Event, Formed, Reported, Rewarded
from giro.bandit.stores import Taken, postgres
from giro.errors import StoreError
from giro.seeds import stream


def test_a_database_that_goes_and_comes_back(tmp_path: Path) -> None:
    where = address("postgres", tmp_path)
    with Bandit(["a", "b"], "thompson", store=where, name="x") as bandit:
        told = [bandit.decide().id for _ in range(5)]
        bandit.reward(told[0], 1.0)
        pull_the_plug()
        try:
            for call in (bandit.decide, lambda: bandit.reward(told[1], 1.0), bandit.pending):
                with pytest.raises(StoreError, match="PostgreSQL fails"):
                    call()
            with pytest.raises(StoreError, match="PostgreSQL fails"):
                Bandit.open(str(where), "x")
        finally:
            start_again()
        told.append(bandit.decide().id)
        bandit.reward(told[1], 1.0)
        assert [decision.id for decision in bandit.pending()] == told[2:]
    with Bandit.open(str(where), "x") as again:
        assert again.n_rewards == 2


def test_events_that_a_database_forgot_as_it_died_are_forgotten_here_too(tmp_path: Path) -> None:
    """Others may have read them: the log is unlocked before the disk has what was committed."""
    where = address("postgres", tmp_path)
    forget = "DELETE FROM giro_events WHERE position > ?"
    with Bandit(["a", "b"], "thompson", store=where, name="x") as bandit:
        kept = bandit.decide(id="kept")
        last = bandit._store.last()
        for id in ("lost", "lost, too"):
            bandit.decide(id=id)
            bandit.reward(id, 1.0)
        bandit._store._write_aside((forget, last))  # type: ignore[attr-defined]
        bandit.reward("kept", 1.0)
        assert (bandit.n_decisions, bandit.n_rewards) == (1, 1)
        assert bandit.decision("kept").arm == kept.arm
        bandit.decide(id="next")
        with Bandit.open(str(where), "x") as again:
            assert (bandit.n_decisions, bandit.n_rewards) == (2, 1)
            assert (again.n_decisions, again.n_rewards) == (2, 1)
            states = [each._follower.state for each in (bandit, again)]
            assert states[0].position == states[1].position == last + 2
            states = [each._follower.state for each in (bandit, again)]
            assert states[0].position == states[1].position == last + 2


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
def test_one_round_trip_writes_what_several_do(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    quick, slow = make("quick"), make("slow")
    database = slow.database  # type: ignore[attr-defined]
    at_once = database.committed_at_once
    monkeypatch.setattr(
        database,
        "committed_at_once",
        lambda group: group[0].bandit == quick._bandit and at_once(group),  # type: ignore[attr-defined]
    )
    rng, refused = stream(5), [0, 0]
    for _ in range(150):
        events: list[Event] = []
        for dice in rng.random(1 + int(rng.random() * 3)):
            id = f"{int(rng.random() * 40)}"
            form = Formed(4.0, "", 1 + int(rng.random() * 3))
            kinds = (decided(id), Rewarded(id, 2.0, dice), Reported(id, 3.0, dice), form)
            events.append(kinds[int(rng.random() * 3.2)])
        for i, store in enumerate((quick, slow)):
            try:
                store.append(events)
            except Taken:
                refused[i] += 1
    query = "SELECT position, kind, id, time, value, data, reward FROM giro_events WHERE bandit = ?"
    rows = [
        sorted(store._query(query, store._bandit))  # type: ignore[attr-defined]
        for store in (quick, slow)
    ]
    assert rows[0] == rows[1]
    assert refused[0] == refused[1] > 20
    assert len(rows[0]) > 40


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
def test_plans_know_how_long_a_log_has_become_by_an_import(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_NEWS", 300)
    store: Any = make()
    known = "SELECT reltuples FROM pg_class WHERE relname = 'giro_events'"
    store.append([decided(f"{n}") for n in range(200)])
    store.append([decided(f"{n}") for n in range(200, 400)])
    assert store.database.query(known) == [(400.0,)]


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
def test_who_appends_is_given_what_others_have_appended(make: Make) -> None:
    here, there = make(), make()
    there.append([decided(f"{i}") for i in range(4)])
    for known in (1, 3, 4, None):
        last = there.last()
        here.append([decided("ours")], known=last)
        appended = here.append([decided(f"after {known}")], known=known)
        assert appended.first == last + 2
        assert appended.after == (last + 1 if known is None else known)
        assert plain(appended.events) == plain(there.read(appended.after, 99))
        here.erase(["ours"], 9.0)
    there.append([decided(f"many {i}") for i in range(300)])
    appended = here.append([decided("late")], known=1)  # too many: it reads for itself
    assert (appended.after, len(appended.events)) == (appended.first - 1, 1)


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
def test_only_where_others_append_the_disk_is_waited_for_without_the_lock(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = make(), make()
    synced = list[int]()
    monkeypatch.setattr(here._groups, "_sync", lambda: synced.append(here.last()))  # type: ignore[attr-defined]
    here.append([decided("a")], known=0)
    assert synced == []
    there.append([decided("b")])
    here.append([decided("c")], known=1)
    assert synced == [3]
    here.append([decided("d"), decided("e")], known=3)
    assert synced == [3]


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
def test_news_that_are_held_back_are_told_soon(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "_NAP", 1e9)  # nobody looks for itself
    here, there = make(), make()
    there.wait(0, 0.0)
    here.append([decided("first")])
    assert there.wait(0, 600.0)
    telling = here.database._telling  # type: ignore[attr-defined]
    monkeypatch.setattr(telling, "is_due", lambda bandit: False)
    here.append([decided("held back")])
    assert there.wait(1, 600.0)


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
def test_many_bandits_and_threads_of_a_process_share_eight_connections(
    make: Make, where: str
) -> None:
    stores = [make(f"bandit {n}") for n in range(60)]

    def work(number: int) -> None:
        for store in stores[number::12]:
            for i in range(5):
                store.append([decided(f"{i}")])
                store.is_keeper()
                store.wait(i, 0.0)
                store.read(0, 10)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    assert stores[0]._query(query)[0][0] <= 8  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
def test_a_plan_that_looks_dear_is_not_compiled(make: Make) -> None:
    store = make()
    query = "EXPLAIN ANALYZE SELECT process FROM giro_processes WHERE until > 0"  # has no index
    plan = " ".join(line for (line,) in store._query(query))  # type: ignore[attr-defined]
    assert "Seq Scan" in plan
    assert "JIT" not in plan
