"""Queue: processes that write to one file take turns, in the order they came."""

import contextlib
import os
from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # there is none on Windows
    fcntl = None  # type: ignore[assignment]


class Queue:
    """Two locked files: who holds the second writes, who holds the first is the next.

    SQLite lets those who find the file locked sleep, for longer and longer, while whoever comes at
    the right moment is served at once. With one lock the process that gives it back could take it
    again before the one that waits wakes up. Here it finds the first one taken. The locks are those
    of `flock`, which end with the process.
    """

    def __init__(self, path: str) -> None:
        """Remember the files, which are opened when needed."""
        self._paths = (f"{path}-next", f"{path}-turn")
        self._files: tuple[int, ...] = ()

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for the turn of this process, one thread at a time."""
        if fcntl is None:
            yield
            return
        if not self._files:
            self._files = tuple(os.open(p, os.O_CREAT | os.O_RDONLY, 0o666) for p in self._paths)
        following, turn = self._files
        fcntl.flock(following, fcntl.LOCK_EX)
        try:
            fcntl.flock(turn, fcntl.LOCK_EX)
        finally:
            fcntl.flock(following, fcntl.LOCK_UN)
        try:
            yield
        finally:
            fcntl.flock(turn, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the files."""
        files, self._files = self._files, ()
        for file in files:
            os.close(file)
