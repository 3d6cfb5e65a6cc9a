"""Breaker: after a call that got no answer, the next ones do not wait for one."""

import os
import threading
import time
from collections.abc import Callable

_FIRST, _LONGEST = 0.5, 5.0  # seconds


class Breaker:
    """Lets calls through until one fails, and then one from time to time.

    Pauses grow from half a second to five seconds, and differ by chance from client to client, so
    that not all come back at the same moment.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin closed: calls are let through."""
        self._clock, self._lock = clock, threading.Lock()
        self._pause, self._until = 0.0, 0.0
        self.is_tended = False  # by somebody who tries, so that no call has to

    @property
    def is_open(self) -> bool:
        """Whether the last call failed."""
        return self._pause > 0.0

    @property
    def wait(self) -> float:
        """The seconds until a call is let through."""
        return max(0.0, self._until - self._clock()) if self.is_open else 0.0

    def lets_through(self) -> bool:
        """Return whether to try. While it is open, one call in each pause may, or somebody does."""
        with self._lock:
            if not self.is_open:
                return True
            if self.is_tended or self._clock() < self._until:
                return False
            self._until = self._clock() + self._pause
            return True

    def failed(self) -> None:
        """Open, or stay open for longer."""
        with self._lock:
            self._pause = min(max(2.0 * self._pause, _FIRST), _LONGEST)
            self._until = self._clock() + self._pause * jitter()

    def succeeded(self) -> None:
        """Close."""
        self._pause = 0.0


def jitter() -> float:
    """Return a number between 0.5 and 1, another each time. No result depends on it."""
    return 0.5 + int.from_bytes(os.urandom(2), "big") / 2**17
