"""One process at a time: a lock on a file, which the system opens again if its holder dies."""

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_PATIENCE = 300.0  # seconds: longer than any kernel compiles
_LOOKS = 0.05  # seconds between two


@contextlib.contextmanager
def alone(path: Path, *, patience: float = _PATIENCE) -> Iterator[bool]:
    """Wait until no other process or thread is inside, but no longer than `patience`.

    Yields whether nobody else is inside.
    """
    with path.open("ab") as file:
        begun = time.monotonic()
        while not (is_mine := _locked(file)) and time.monotonic() - begun < patience:
            time.sleep(_LOOKS)
        yield is_mine  # closing the file opens the lock


def _locked(file: IO[bytes]) -> bool:
    """Lock a file if nobody else has, and return whether that worked."""
    try:
        if sys.platform == "win32":
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
