"""What a process shows on a terminal."""

import contextlib
import os
import pty
import re
import select
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

HANGS = 600.0  # seconds in which a process shows nothing at all
MOST = 200_000  # characters: a line that moves ten times a second, for minutes


@contextlib.contextmanager
def on_terminal(
    command: Sequence[str], **options: Any
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Run a command whose errors go to a terminal. Yield both; kill it if the block fails."""
    terminal, other_end = pty.openpty()
    with subprocess.Popen(command, stderr=other_end, **options) as process:
        os.close(other_end)
        try:
            yield process, terminal
        except BaseException:  # also a test that failed
            process.kill()
            raise
    os.close(terminal)


def read_until(terminal: int, pattern: bytes) -> bytes:
    """Return what a terminal shows until it shows the pattern."""
    shown = b""
    while not re.search(pattern, shown):
        ready, _, _ = select.select([terminal], [], [], HANGS)
        try:
            assert ready, "nothing is shown any more"
            assert len(shown) < MOST, "it is not shown"
            shown += os.read(terminal, 4096)
        except (AssertionError, OSError) as error:  # OSError: nobody writes any more
            pytest.fail(f"{error}: {shown[-2000:].decode(errors='replace')}")
    return shown
