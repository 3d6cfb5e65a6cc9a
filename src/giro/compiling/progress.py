"""A line on the screen while giro compiles, with the time that it has taken so far.

It comes after a second, on a terminal or in a notebook, and is gone when all is compiled. Into
files and pipes nothing is written. However many threads compile, there is one line.
"""

import contextlib
import itertools
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

AFTER = 1.0  # seconds until the line is shown
_STEP = 0.1  # seconds between two pictures
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PLAIN_SPINNER = "|/-\\"


class _Line:
    """The line, and the number of threads that it is shown for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting = 0
        self._hidden = 0
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def shown(self) -> Iterator[None]:
        """Show the line while the block runs, if anybody can see it."""
        output = sys.stderr
        if self._hidden or not _is_seen(output):
            yield
            return
        self._begin(output)
        try:
            yield
        finally:
            self._end()

    @contextlib.contextmanager
    def hidden(self) -> Iterator[None]:
        """Show nothing while the block runs, which has a picture of its own."""
        self._hidden += 1
        try:
            yield
        finally:
            self._hidden -= 1

    def _begin(self, output: Any) -> None:
        with self._lock:
            self._waiting += 1
            if self._waiting == 1:
                self._ended = threading.Event()
                draw = threading.Thread(target=_draw, args=(output, self._ended), daemon=True)
                draw.start()
                self._thread = draw

    def _end(self) -> None:
        with self._lock:
            self._waiting -= 1
            if self._waiting == 0 and self._thread is not None:
                self._ended.set()
                self._thread.join()  # what comes next finds the line gone
                self._thread = None


def _is_seen(output: Any) -> bool:
    """Return whether a person sees an output."""
    if type(output).__module__.startswith("ipykernel"):
        return True
    try:
        return bool(output.isatty())
    except (AttributeError, ValueError):  # none, or closed
        return False


def _draw(output: Any, ended: threading.Event) -> None:
    """Write the line again and again until the end, then wipe it out."""
    begun, width = time.monotonic(), 0
    if ended.wait(AFTER):
        return
    with contextlib.suppress(OSError, ValueError):  # whoever closed it does not look
        for picture in itertools.cycle(_pictures(output)):
            seconds = time.monotonic() - begun
            text = f"{picture} giro compiles what is used for the first time: {seconds:.0f} s"
            output.write("\r" + text)
            output.flush()
            width = len(text)
            if ended.wait(_STEP):
                break
        output.write("\r" + " " * width + "\r")
        output.flush()


def _pictures(output: Any) -> str:
    try:
        _SPINNER.encode(getattr(output, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return _PLAIN_SPINNER
    return _SPINNER


_line = _Line()
shown = _line.shown
hidden = _line.hidden
