"""Telling: when a process says that a log has grown.

Each message wakes up every process that follows. So a process that has just told of a log keeps the
next news of it back for some milliseconds, and then tells them together.
"""

import time

QUIET = 0.005  # seconds after a message in which the next news are kept back


class Telling:
    """News of logs that a process has told, and news that it has held back.

    Threads use it without a lock: at worst something is told twice.
    """

    def __init__(self) -> None:
        """Begin with nothing told."""
        self._told: dict[int, tuple[float, int]] = {}  # bandit: when, and which position
        self._held_back: dict[int, int] = {}  # bandit: a position that others do not know of

    def is_due(self, bandit: int) -> bool:
        """Return whether news are told at once."""
        return time.monotonic() >= self._told.get(bandit, (0.0, 0))[0] + QUIET

    def told(self, bandit: int, position: int) -> None:
        """Note that a position was told."""
        self._told[bandit] = time.monotonic(), position

    def held_back(self, bandit: int, position: int) -> None:
        """Note that a position was not told."""
        self._held_back[bandit] = position

    def take(self) -> dict[int, int]:
        """Return the news that were held back and not told since, and forget them."""
        held_back = dict[int, int]()
        while self._held_back:  # threads may add to it
            bandit, position = self._held_back.popitem()
            held_back[bandit] = position
        return {
            bandit: position
            for bandit, position in held_back.items()
            if self._told.get(bandit, (0.0, 0))[1] < position
        }
