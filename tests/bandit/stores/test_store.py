"""The contract of stores: the same for memory, SQLite and PostgreSQL."""

import itertools
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bandit.stores.events import Make, decided, plain

from giro.bandit.event import (
    DECISION,
    KINDS,
    ArmAdded,
    ArmRetired,
    Began,
    Decided,
    Erased,
    Event,
    Formed,
    Rebuilt,
    Reported,
    Rewarded,
)
from giro.bandit.stores import Snapshot, Taken, opened

BEGINNING: list[Event] = [
    Began(0.0, '{"ä": 1}'),
    ArmAdded(0.5, "rød"),
    ArmAdded(0.5, "b"),
    Formed(0.6, "{}"),
]


def test_all_kinds_of_events_come_back_as_they_were(make: Make) -> None:
    store = make()
    events: list[Event] = [
        *BEGINNING,
        decided("x"),
        decided("y", 2.0),
        ArmRetired(2.5, "b"),
        Reported("y", 3.0, 0.125),
        Reported("y", 3.0, 0.25, "ä report"),
        Rewarded("x", 3.0, 1.0),
        Rewarded("y", 1e9 + 0.1, -0.1, True),
    ]
    assert store.append(events).first == 1
    assert plain(store.read(0, 100)) == plain(events)
    assert plain(make().read(0, 100)) == plain(events)
    assert store.last() == len(events)


@pytest.mark.parametrize(("d", "k"), [(3, 0), (0, 2), (3, 2)])
def test_contexts_and_features_come_back(make: Make, d: int, k: int) -> None:
    store = make()
    events = [decided(f"{i}", d=d, k=k) for i in range(5)]
    store.append(events)
    assert plain(store.read(0, 100)) == plain(events)
    assert plain([found.decision for found in store.find(["3"]).values()]) == plain(events[3:4])


def test_probabilities_may_be_unknown_or_an_estimate(make: Make) -> None:
    store = make()
    events = [
        decided("none")._replace(propensities=np.empty(0), own=0.0, request=b""),
        decided("one")._replace(propensities=np.array([0.2])),
    ]
    store.append(events)
    assert plain(store.read(0, 10)) == plain(events)
    assert [e.propensity for e in store.read(0, 10) if isinstance(e, Decided)] == [None, 0.2]


def test_reading_goes_on_from_a_position(make: Make) -> None:
    store = make()
    events = [decided(f"{i}") for i in range(10)]
    assert [store.append([event]).first for event in events] == list(range(1, 11))
    assert plain(store.read(4, 3)) == plain(events[4:7])
    assert store.read(10, 5) == []


def test_what_is_taken_is_refused_and_nothing_else_is_appended(make: Make) -> None:
    store = make()
    store.append([*BEGINNING, decided("x"), decided("z"), Rewarded("x", 1.0, 1.0)])
    refused: list[Event] = [
        decided("x"),
        Rewarded("x", 2.0, 1.0),
        Rewarded("x", 2.0, 1.0, True),
        Reported("x", 2.0, 1.0),
        Rewarded("nobody", 2.0, 1.0),
        Reported("nobody", 2.0, 1.0),
        Formed(1.0, "{}", 1),
        Formed(1.0, "{}", 3),
    ]
    for event in refused:
        with pytest.raises(Taken) as caught:
            store.append([decided("new"), Rewarded("z", 2.0, 0.0), event])
        assert plain([caught.value.event]) == plain([event])
    assert store.last() == 7
    store.append([decided("new"), Rewarded("new", 2.0, 0.5), Rewarded("z", 2.0, 0.0)])
    assert store.last() == 10


@pytest.mark.parametrize(
    "events",
    [
        [decided("q"), decided("q", 2.0)],
        [decided("q"), Rewarded("q", 1.0, 1.0), Rewarded("q", 1.0, 1.0)],
        [decided("q"), Rewarded("q", 1.0, 1.0), Reported("q", 1.0, 1.0)],
        [Rewarded("q", 1.0, 1.0), decided("q")],
        [Formed(0.0, "{}"), Formed(0.0, "{}")],
        [Formed(0.0, "{}"), Formed(0.0, "{}", 3)],
    ],
)
def test_a_group_is_checked_against_itself(make: Make, events: list[Event]) -> None:
    store = make()
    with pytest.raises(Taken):
        store.append(events)
    assert store.last() == 0


def test_forms_come_one_after_the_other(make: Make) -> None:
    store = make()
    store.append([Formed(0.0, "{}"), decided("a"), Formed(0.0, "{1}", 2)])
    store.append([Formed(0.0, "{2}", 3)])
    with pytest.raises(Taken, match="a form of version 3"):
        store.append([decided("b"), Formed(0.0, "{3}", 3)])
    assert [e.version for e in store.read(0, 9) if isinstance(e, Formed)] == [1, 2, 3]
    assert store.last() == 4


def test_a_log_may_be_expected_to_end_somewhere(make: Make) -> None:
    store = make()
    assert store.append(BEGINNING, expected=0).first == 1
    with pytest.raises(Taken, match="the log has grown meanwhile") as caught:
        store.append([Began(9.0, "other"), ArmAdded(9.0, "x")], expected=0)
    assert caught.value.event == Began(9.0, "other")
    assert store.append([decided("a")], expected=4).first == 5
    assert store.last() == 5


def test_decisions_are_found_with_what_became_of_them(make: Make) -> None:
    store = make()
    reward = Rewarded("b", 5.0, 0.25, True)
    store.append([decided("a"), decided("b"), decided("c"), Reported("c", 3.0, 1.0), reward])
    found = store.find(["a", "b", "c", "nobody"])
    assert sorted(found) == ["a", "b", "c"]
    assert [found[id].reward for id in "abc"] == [None, reward, None]
    assert [found[id].reports for id in "abc"] == [0, 0, 1]
    assert store.find([]) == {}
    many = [f"n{i}" for i in range(1200)]
    store.append([decided(id) for id in many])
    assert list(store.find(many)) == many or sorted(store.find(many)) == sorted(many)


def test_reports_are_kept_in_order(make: Make) -> None:
    store = make()
    reports = [Reported("a", 1.0, 0.5), Reported("a", 1.0, 0.1, "x"), Reported("a", 1.0, 0.9)]
    store.append([decided("a"), *reports])
    assert store.reports("a") == reports
    assert store.reports("nobody") == []


def test_a_report_of_a_name_is_there_once(make: Make) -> None:
    store = make()
    store.append([decided("a"), decided("b"), Reported("a", 1.0, 0.5, "x")])
    for again in (
        [Reported("a", 2.0, 0.5, "x")],
        [Reported("b", 2.0, 0.5, "x"), Reported("a", 2.0, 0.7, "x")],
        [Reported("a", 2.0, 0.5, "y"), Reported("a", 2.0, 0.5, "y")],
    ):
        with pytest.raises(Taken, match="no decision 'a' waits for this reward"):
            store.append([decided("new"), *again])
    assert store.last() == 3
    store.append([Reported("b", 2.0, 0.5, "x"), Reported("a", 2.0, 0.5, "y")])
    store.append([Reported("a", 3.0, 0.5), Reported("a", 3.0, 0.5)])
    assert [(r.value, r.name) for r in store.reports("a")] == [
        (0.5, "x"),
        (0.5, "y"),
        (0.5, ""),
        (0.5, ""),
    ]
    many = [Reported("b", 4.0, 0.5, f"{i}") for i in range(100)]
    store.append(many)
    with pytest.raises(Taken):
        store.append([Reported("b", 4.0, 0.5, f"{i}") for i in range(99, 199)])
    assert len(store.reports("b")) == 101


def test_of_threads_that_send_a_report_of_a_name_one_does(make: Make) -> None:
    store = make()
    if not store.shared:
        return
    store.append([decided("a")])
    stores, answers = [store, make()], list[str]()

    def work(number: int) -> None:
        try:
            stores[number % 2].append([Reported("a", 2.0, 1.0, "once")])
            answers.append("done")
        except Taken:
            answers.append("taken")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == ["done", *["taken"] * 7]
    assert len(store.reports("a")) == 1


def test_decisions_wait_until_their_reward_comes(make: Make) -> None:
    store = make()
    store.append([decided(f"{t}", float(t)) for t in (3, 1, 2, 9)])
    assert [event.id for event in store.waiting(3.0)] == ["3", "1", "2"]
    store.append([Rewarded("1", 4.0, 1.0), Reported("2", 4.0, 1.0)])
    assert [event.id for event in store.waiting(3.0)] == ["3", "2"]
    assert [event.id for event in store.waiting(float("inf"))] == ["3", "2", "9"]


def test_waiting_for_more_ends_when_there_is_more(make: Make) -> None:
    store = make()
    store.append([decided("a")])
    assert store.wait(0, 60.0)
    assert not store.wait(1, 0.01)
    if store.shared:
        other = make()
        thread = threading.Thread(target=lambda: other.append([decided("b")]))
        thread.start()
        assert store.wait(1, 600.0)
        thread.join()


def test_bandits_in_one_store_know_nothing_of_each_other(make: Make) -> None:
    one, two = make("one"), make("two")
    one.append([decided("a"), Rewarded("a", 2.0, 1.0)])
    two.append([decided("a", 7.0)])
    assert (len(one.read(0, 10)), len(two.read(0, 10))) == (2, 1)
    assert [event.time for event in two.waiting(9.0)] == [7.0]
    assert two.find(["a"])["a"].reward is None
    assert one.erase(["a"], 3.0) == 2
    assert plain(two.read(0, 10)) == plain([decided("a", 7.0)])


def test_what_is_erased_is_gone(make: Make) -> None:
    store = make()
    store.append(
        [decided("a"), decided("b", 2.0), Reported("a", 3.0, 1.0), Rewarded("a", 4.0, 1.0)]
    )
    assert store.erase(["nobody"], 5.0) == 0
    assert store.last() == 4
    assert store.erase(["a", "nobody"], 5.0) == 3
    left: list[Event] = [Erased(1.0), decided("b", 2.0), Erased(3.0), Erased(4.0), Rebuilt(5.0)]
    assert plain(store.read(0, 10)) == plain(left)
    assert store.find(["a"]) == {}
    assert store.reports("a") == []
    assert [event.id for event in store.waiting(9.0)] == ["b"]
    store.append([decided("a", 6.0)])
    assert store.last() == 6


def snapshot(position: int) -> Snapshot:
    arrays = {"x/y": np.arange(6.0).reshape(2, 3), "n": np.array(position), "empty": np.empty(0)}
    return Snapshot(position, {"é": [1, None]}, arrays)


def test_the_newest_snapshots_are_kept(make: Make) -> None:
    store = make()
    store.append([decided(f"{i}") for i in range(5)])
    if not store.shared:
        return
    for position in (1, 2, 4):
        store.keep(snapshot(position))
    found = list(make().snapshots())
    assert [each.position for each in found] == [4, 2]
    assert found[0].about == {"é": [1, None]}
    for name, array in snapshot(4).arrays.items():
        np.testing.assert_array_equal(found[0].arrays[name], array)
    store.erase(["3"], 9.0)
    assert list(store.snapshots()) == []
    store.keep(snapshot(5))  # learned before the erasing, which stands at 6
    assert list(store.snapshots()) == []
    store.keep(snapshot(6))
    assert [each.position for each in store.snapshots()] == [6]


def test_one_is_the_keeper(make: Make) -> None:
    store = make()
    assert store.is_keeper()
    assert store.is_keeper()
    if store.shared:
        other = make()
        assert not other.is_keeper()
        assert make("another bandit").is_keeper()
        assert store.is_keeper()
        store.close()
        assert other.is_keeper()


def test_threads_lose_and_double_nothing(make: Make) -> None:
    store = make()
    if not store.shared:
        return
    others = [store, make()]
    positions: list[int] = []

    def work(number: int) -> None:
        for i in range(20):
            id = f"{number}-{i}"
            its = others[number % 2]
            positions.append(its.append([decided(id)]).first)
            positions.append(its.append([Rewarded(id, 2.0, 1.0)]).first)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(positions) == list(range(1, 321))
    assert len(store.read(0, 1000)) == 320
    assert store.waiting(9.0) == []


def test_one_thread_of_many_rewards_a_decision(make: Make) -> None:
    store = make()
    if not store.shared:
        return
    store.append([decided("a")])
    taken: list[Taken] = []

    def work() -> None:
        try:
            store.append([Rewarded("a", 2.0, 1.0), decided(f"{threading.get_ident()}")])
        except Taken as error:
            taken.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 7
    assert store.last() == 3


def _append_in_child(where: str, number: int) -> None:
    store = opened(where, "b")
    for i in range(10):
        store.append([decided(f"{number}-{i}"), Rewarded(f"{number}-{i}", 2.0, 1.0)])
    store.close()


def _create_in_child(where: str, number: int, ready: Any, created: Any) -> None:
    ready.wait()
    try:
        store = opened(where, "b")
        store.append([Began(float(number), "{}"), ArmAdded(0.0, f"{number}")], expected=0)
        created.put(number)
        store.close()
    except Exception as error:
        created.put(repr(error))


def test_of_processes_that_create_a_bandit_at_once_one_does(where: str | None) -> None:
    if where is None:
        return
    spawn = multiprocessing.get_context("spawn")
    ready, created = spawn.Barrier(3), spawn.Queue()
    children = [
        spawn.Process(target=_create_in_child, args=(where, n, ready, created)) for n in range(3)
    ]
    for child in children:
        child.start()
    answers = [created.get() for _ in children]
    for child in children:
        child.join()
        assert child.exitcode == 0
    (creator,) = [answer for answer in answers if isinstance(answer, int)]
    assert sum("Taken" in str(answer) for answer in answers) == 2, answers
    store = opened(where, "b")
    assert store.read(0, 9) == [Began(float(creator), "{}"), ArmAdded(0.0, f"{creator}")]
    store.close()


def test_processes_lose_and_double_nothing(make: Make, where: str | None) -> None:
    if where is None:
        return
    store, followed = make(), list[Any]()
    spawn = multiprocessing.get_context("spawn")
    children = [spawn.Process(target=_append_in_child, args=(where, n)) for n in range(3)]
    for child in children:
        child.start()
    while len(followed) < 60:  # what a follower reads is never changed or filled in later
        store.wait(len(followed), 600.0)
        followed += store.read(len(followed), 7)
    for child in children:
        child.join()
        assert child.exitcode == 0
    assert plain(followed) == plain(store.read(0, 100))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_goes_on_by_itself(make: Make) -> None:
    store = make()
    if not store.shared:
        return
    store.append([decided("before")])
    assert store.is_keeper()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            store.append([decided("child")])
            status = 0 if store.last() == 2 and not store.is_keeper() else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    store.append([decided("parent")])
    assert [e.id for e in store.read(0, 9) if isinstance(e, Decided)] == [
        "before",
        "child",
        "parent",
    ]


def _ended(child: int) -> int | None:
    """Return how a child ended, None if it hangs: then it is killed."""
    for _ in range(6_000):
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_children_forked_while_threads_write_read_and_wait_work(make: Make) -> None:
    store = make()
    if not store.shared:
        return
    stop, failures = threading.Event(), list[BaseException]()

    def work(call: Callable[[int], Any]) -> None:
        try:
            for i in itertools.count():
                call(i)
                if stop.is_set():
                    return
        except BaseException as error:
            failures.append(error)

    calls = [
        lambda i: store.append([decided(f"parent {i}"), Rewarded(f"parent {i}", 2.0, 1.0)]),
        lambda i: store.read(i % 50, 100),
        lambda i: store.wait(store.last(), 0.01),
    ]
    threads = [threading.Thread(target=work, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    ends = []
    for n in range(25):
        time.sleep(0.003)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                store.append([decided(f"child {n}")])
                known = store.find([f"child {n}"])
                status = 0 if known and store.wait(store.last() - 1, 600.0) else 2
            finally:
                os._exit(status)
        ends.append(_ended(child))
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert ends == [0] * 25
    assert len(store.find([f"child {n}" for n in range(25)])) == 25


def test_the_newest_events_come_first(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make()
    assert store.latest(1, 5) == []
    store.append(BEGINNING)
    for i in range(5):
        store.append([decided(f"{i}"), Rewarded(f"{i}", 2.0, 0.5, i == 3)])
    events = store.read(0, 100)
    newest = [*zip(range(1, 15), events, strict=True)][::-1]

    def numbers(*asked: Any) -> list[int]:
        rows = store.latest(*asked)
        assert plain([event for _, event in rows]) == plain([events[n - 1] for n, _ in rows])
        return [number for number, _ in rows]

    assert numbers(15, 100) == [number for number, _ in newest]
    assert numbers(10, 3) == [9, 8, 7]
    assert numbers(15, 2, [DECISION]) == [13, 11]
    assert numbers(12, 9, [KINDS.index("expired"), KINDS.index("reward")]) == [10, 8, 6]
    for module in ("memory", "_sql"):
        monkeypatch.setattr(f"giro.bandit.stores.{module}.DEPTH", 6)
    assert numbers(13, 9, [DECISION]) == [11, 9, 7]
