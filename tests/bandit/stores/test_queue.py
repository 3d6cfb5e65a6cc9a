"""Processes that take turns."""

import threading
from pathlib import Path

import pytest

from giro.bandit.stores._queue import Queue

fcntl = pytest.importorskip("fcntl")


def is_locked(path: str) -> bool:
    with open(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def test_who_comes_again_at_once_does_not_overtake_the_one_that_waits(tmp_path: Path) -> None:
    one, other = Queue(f"{tmp_path}/x"), Queue(f"{tmp_path}/x")  # as of two processes
    order: list[str] = []

    def wait() -> None:
        with other.turn():
            order.append("other")

    pause = threading.Event()
    for _ in range(20):
        order.clear()
        with one.turn():
            thread = threading.Thread(target=wait)
            thread.start()
            while not is_locked(f"{tmp_path}/x-next"):  # a test that hangs fails
                pause.wait(0.001)
            order.append("one")
        with one.turn():
            order.append("one again")
        thread.join()
        assert order == ["one", "other", "one again"]
    for queue in (one, other):
        queue.close()


def test_one_at_a_time(tmp_path: Path) -> None:
    inside, most = 0, 0

    def work() -> None:
        nonlocal inside, most
        queue = Queue(f"{tmp_path}/x")
        for _ in range(50):
            with queue.turn():
                inside += 1
                most = max(most, inside)
                inside -= 1
        queue.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
