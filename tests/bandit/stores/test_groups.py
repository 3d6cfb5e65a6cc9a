"""Threads that share transactions."""

import threading
from typing import Any

import pytest
from bandit.stores.events import Make, decided

from giro.bandit.event import Began, Rewarded
from giro.bandit.stores import Taken
from giro.bandit.stores._groups import Groups, Request, Unreachable
from giro.errors import BadParameter, StoreError


def together(groups: Groups, calls: list[Any]) -> list[Any]:
    """Return what calls return or raise that come while somebody else writes: they are a group."""
    answers: list[Any] = [None] * len(calls)

    def run(i: int) -> None:
        try:
            answers[i] = calls[i]()
        except BaseException as error:
            answers[i] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(calls))]
    pause = threading.Event()
    with groups.alone():
        for n, thread in enumerate(threads):
            thread.start()
            while groups.n_waiting() <= n:  # a test that hangs fails
                pause.wait(0.001)
    for thread in threads:
        thread.join()
    return answers


def added(groups: Groups) -> int:
    """Append an event, and return its position."""
    return groups.append(Request(1, [Began(0.0, "")])).first


def test_those_who_wait_are_committed_together() -> None:
    sizes: list[int] = []
    groups = Groups(lambda group: sizes.append(len(group)))
    assert together(groups, [lambda: added(groups)] * 5) == [0] * 5
    assert sizes == [5]


def test_a_group_is_synced_while_the_next_is_written() -> None:
    written, synced = threading.Event(), threading.Event()
    order: list[str] = []

    def commit(group: list[Request]) -> None:
        order.append(f"commit {group[0].bandit}")
        if group[0].bandit == 2:
            written.set()

    def sync() -> None:
        if not synced.is_set():  # the first waits until the second was written
            synced.set()
            written.wait()
        order.append("sync")

    groups = Groups(commit, sync)
    first = threading.Thread(target=lambda: groups.append(Request(1, [Began(0.0, "")])))
    first.start()
    synced.wait()
    groups.append(Request(2, [Began(0.0, "")]))
    first.join()
    assert order == ["commit 1", "commit 2", "sync", "sync"]


def test_a_sync_that_fails_is_told_to_the_whole_group() -> None:
    def sync() -> None:
        raise StoreError("no disk")

    groups = Groups(lambda group: None, sync)
    answers = together(groups, [lambda: groups.append(Request(1, [Began(0.0, "")]))] * 3)
    assert [str(answer) for answer in answers] == ["no disk"] * 3


def test_where_the_database_fails_nobody_tries_alone() -> None:
    sizes: list[int] = []

    def commit(group: list[Request]) -> None:
        sizes.append(len(group))
        raise Unreachable("gone")

    groups = Groups(commit)
    answers = together(groups, [lambda: groups.append(Request(1, [Began(0.0, "")]))] * 3)
    assert [type(answer) for answer in answers] == [Unreachable] * 3
    assert sizes == [3]


def test_who_is_interrupted_while_waiting_leaves_the_others_alone() -> None:
    groups = Groups(lambda group: None)
    gone = Request(1, [Began(0.0, "")])

    class Interrupted:
        def acquire(self) -> None:
            raise KeyboardInterrupt

        def release(self) -> None:
            pass

    gone.woken = Interrupted()  # type: ignore[assignment]
    with groups.alone(), pytest.raises(KeyboardInterrupt):
        groups.append(gone)
    assert groups.n_waiting() == 0
    assert added(groups) == 0


def test_who_is_interrupted_when_it_gets_the_lead_hands_it_on() -> None:
    groups = Groups(lambda group: None)
    gone = Request(1, [Began(0.0, "")])

    class Interrupted:
        def acquire(self) -> None:
            gone.leads = True  # handed over at this very moment
            raise KeyboardInterrupt

        def release(self) -> None:
            pass

    gone.woken = Interrupted()  # type: ignore[assignment]
    groups._is_led = True
    with pytest.raises(KeyboardInterrupt):
        groups.append(gone)
    assert added(groups) == 0


@pytest.mark.parametrize("kind", ["sqlite", "postgres"], indirect=True)
def test_a_bad_event_fails_alone(make: Make) -> None:
    store: Any = make()
    store.append([decided("a")])
    bad: Any = object()  # no database has a type for it
    answers = together(
        store._groups,
        [
            lambda: store.append([decided("b")]),
            lambda: store.append([decided("c")._replace(time=bad)]),
            lambda: store.append([decided("d"), Rewarded("a", 2.0, 1.0)]),
            lambda: store.append([Rewarded("nobody", 2.0, 1.0)]),
        ],
    )
    assert answers[0].first == 2
    assert isinstance(answers[1], StoreError)
    assert answers[2].first == 3
    assert isinstance(answers[3], Taken)
    assert sorted(store.find(["a", "b", "c", "d"])) == ["a", "b", "d"]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"], indirect=True)
def test_who_appends_together_is_given_the_events_of_all(make: Make) -> None:
    store: Any = make()
    store.append([decided("a")])
    new: list[list[Any]] = [
        [decided("b")],
        [Rewarded("nobody", 2.0, 1.0)],
        [decided("c"), Rewarded("a", 2.0, 1.0)],
    ]
    calls = [lambda events=events: store.append(events, known=1) for events in new]
    answers: list[Any] = together(store._groups, calls)
    one, refused, other = answers
    assert isinstance(refused, Taken)
    assert (one.first, other.first, one.after, other.after) == (2, 3, 1, 1)
    assert one.events is other.events
    assert list(one.events) == [*new[0], *new[2]]


@pytest.mark.parametrize("id", ["x" * 257, "ü" * 5000, "", "a\0b", "\ud800", 7])
def test_an_id_that_no_store_can_keep_is_refused(make: Make, id: Any) -> None:
    store = make()
    for event in (decided("a")._replace(id=id), Rewarded(id, 2.0, 1.0)):
        with pytest.raises(BadParameter, match="an id is a word of 1 to 256 characters") as caught:
            store.append([event])
        assert len(str(caught.value)) < 150
    assert store.last() == 0


@pytest.mark.parametrize("id", ["x" * 256, "𝕏" * 256, "'; DROP TABLE giro_events; --", "%s ? {}"])
def test_odd_ids_are_kept_as_they_are(make: Make, id: str) -> None:
    store = make()
    store.append([decided(id)])
    store.append([Rewarded(id, 2.0, 1.0)])
    assert list(store.find([id])) == [id]
    assert store.erase([id], 3.0) == 2
