"""Connections that threads lend and give back."""

import threading

import pytest

from giro.bandit.stores._pool import Pool


class Connection:
    def __init__(self) -> None:
        self.is_open = True

    def close(self) -> None:
        self.is_open = False


def test_connections_are_used_again_unless_something_failed() -> None:
    pool = Pool(Connection, most=3)
    with pool.one() as first:
        pass
    with pool.one() as second:
        assert second is first
        with pool.one() as third:
            assert third is not first
    with pytest.raises(RuntimeError), pool.one() as broken:
        raise RuntimeError
    assert not broken.is_open
    with pool.one() as another:
        assert another is not broken


def test_what_is_lent_when_the_pool_ends_is_closed_when_it_comes_back() -> None:
    pool = Pool(Connection, most=3)
    with pool.one() as free, pool.one() as lent:
        pass
    with pool.one() as lent:
        pool.end()
        assert lent.is_open
    assert not lent.is_open
    assert not free.is_open


def test_no_more_connections_than_allowed() -> None:
    made: list[Connection] = []
    pool = Pool(lambda: made.append(Connection()) or made[-1], most=2)  # type: ignore[func-returns-value]
    lent, most = [0], [0]

    def work() -> None:
        for _ in range(200):
            with pool.one():
                lent[0] += 1
                most[0] = max(most[0], lent[0])
                lent[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) <= 2


def test_a_pause_waits_for_all_that_is_lent_and_lends_nothing() -> None:
    pool = Pool(Connection, most=3)
    order: list[str] = []
    lent, paused = threading.Event(), threading.Event()

    def use() -> None:
        with pool.one():
            lent.set()
            while not pool._is_paused:  # a test that hangs fails
                pass
            order.append("given back")

    def use_later() -> None:
        paused.wait()
        with pool.one():
            order.append("lent again")

    threads = [threading.Thread(target=use), threading.Thread(target=use_later)]
    for thread in threads:
        thread.start()
    lent.wait()
    pool.pause()
    order.append("paused")
    paused.set()
    threads[0].join()
    order.append("going on")
    pool.go_on()
    threads[1].join()
    assert order == ["given back", "paused", "going on", "lent again"]
