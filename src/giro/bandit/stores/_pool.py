"""Connections of a database that threads lend and give back."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, Generic, Protocol, TypeVar

_LEFT_BEHIND: list[Any] = []  # connections of a parent process: never used, never closed


class Connection(Protocol):
    """Anything that can be closed."""

    def close(self) -> None:
        """Close it."""


C = TypeVar("C", bound=Connection)


class Pool(Generic[C]):
    """Connections that are made when needed, at most `most` at a time, and used again."""

    def __init__(self, make: Callable[[], C], *, most: int) -> None:
        """Remember how to make a connection."""
        self._make, self._most = make, most
        self._free: list[C] = []
        self._is_over = False
        self.renew()

    def renew(self) -> None:
        """Leave the parent's connections alone: in a child process."""
        _LEFT_BEHIND.extend(self._free)
        self._free = []
        self._changed = threading.Condition(threading.Lock())
        self._n_users, self._is_paused = 0, False

    def enter(self) -> None:
        """Wait for a free place. The pool is not paused until `leave`."""
        with self._changed:
            while self._is_paused or self._n_users >= self._most:
                self._changed.wait()
            self._n_users += 1

    def leave(self) -> None:
        """Give back the place."""
        with self._changed:
            self._n_users -= 1
            self._changed.notify_all() if self._is_paused else self._changed.notify()

    @contextlib.contextmanager
    def one(self) -> Iterator[C]:
        """Lend a connection, and close it after an error, as it may be broken."""
        self.enter()
        try:
            try:
                connection = self._free.pop()
            except IndexError:
                connection = self._make()
            try:
                yield connection
            except BaseException:
                with contextlib.suppress(Exception):
                    connection.close()
                raise
            self._free.append(connection)
            if self._is_over:  # since it was lent
                self.close()
        finally:
            self.leave()

    def pause(self) -> None:
        """Lend nothing more, and wait until everything is back."""
        with self._changed:
            self._is_paused = True
            while self._n_users:
                self._changed.wait()

    def go_on(self) -> None:
        """Lend again."""
        with self._changed:
            self._is_paused = False
            self._changed.notify_all()

    def end(self) -> None:
        """Close those that nobody uses, and the others when they come back."""
        self._is_over = True
        self.close()

    def close(self) -> None:
        """Close those that nobody uses."""
        while self._free:
            with contextlib.suppress(Exception):
                self._free.pop().close()


def left_behind(connection: Any) -> None:
    """Keep a parent's connection, so that it is never closed."""
    if connection is not None:
        _LEFT_BEHIND.append(connection)
