"""What a process shows on a terminal."""

import os
import re
import select

import pytest

HANGS = 600.0  # seconds in which a process shows nothing at all


def read_until(terminal: int, pattern: bytes) -> bytes:
    """Return what a terminal shows until it shows the pattern."""
    shown = b""
    while not re.search(pattern, shown):
        ready, _, _ = select.select([terminal], [], [], HANGS)
        try:
            assert ready, "nothing is shown any more"
            shown += os.read(terminal, 4096)
        except (AssertionError, OSError) as error:  # OSError: nobody writes any more
            pytest.fail(f"{error}: {shown[-2000:].decode(errors='replace')}")
    return shown
