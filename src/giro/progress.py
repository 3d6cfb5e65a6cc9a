"""Progress: one line on the screen while something takes long, and how far it is.

It comes after one second, on a terminal or in a notebook, and is gone in the end. Into files and
pipes nothing is written. A loop only counts, and a thread draws the line ten times a second. Of
several things at once, one inside the other or in several threads, the line shows the last begun of
those that already take long.
"""

import contextlib
import itertools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

AFTER = 1.0  # seconds until something is shown
_STEP = 0.1  # seconds between two pictures
_WIDTH = 79  # of a notebook
_BAR, _LEAST = 20, 16  # characters of the bar, and of a description that is cut


class Task:
    """Something that takes long. The loop that does it sets these, at no cost."""

    def __init__(self, doing: str = "", total: int | None = None, begun: float = 0.0) -> None:
        """Begin at a time with nothing done. `total` is None if nobody knows how much there is."""
        self.doing, self.total, self.begun = doing, total, begun
        self.done = 0
        self._first: tuple[float, int] | None = None  # when it was first shown, and done by then

    def advance(self, count: int = 1) -> None:
        """Count so much as done."""
        self.done += count

    def seconds_left(self, now: float) -> float | None:
        """Return about how long it still takes, by the speed since it was first shown."""
        if self.total is None:
            return None
        if self._first is None:
            self._first = now, self.done
        since, before = self._first
        if self.done <= before:
            return None
        return (now - since) / (self.done - before) * max(0, self.total - self.done)


class Line:
    """The line, and all that goes on."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with nothing under way."""
        self._clock = clock
        self._lock = threading.Lock()
        self._tasks: list[Task] = []
        self._hidden = 0
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def shown(self, doing: str, total: int | None = None, *, wanted: bool = True) -> Iterator[Task]:
        """Show the line while the block runs, if that takes long and anybody can see it.

        Yields the task to count what is done. If it is not `wanted`, nothing inside the block is
        shown either.
        """
        output, task = sys.stderr, Task(doing, total, self._clock())
        is_seen = wanted and not self._hidden and is_looked_at(output)
        if is_seen:
            self._begin(task, output)
        with self._lock:
            self._hidden += not wanted
        try:
            yield task
        finally:
            with self._lock:
                self._hidden -= not wanted
            if is_seen:
                self._end(task)

    def text(self, width: int = _WIDTH, *, plain: bool = False) -> str:
        """Return the line as it is now, empty while nothing takes long.

        `plain` is for outputs that know ASCII only.
        """
        now = self._clock()
        # no lock: a process may be forked while this thread looks
        long = [task for task in tuple(self._tasks) if now - task.begun >= AFTER]
        return _text(long[-1], now, width, plain=plain) if long else ""

    def _begin(self, task: Task, output: Any) -> None:
        with self._lock:
            self._tasks.append(task)
            if self._thread is None:
                self._ended = threading.Event()
                self._thread = threading.Thread(
                    target=self._draw, args=(output, self._ended), daemon=True
                )
                self._thread.start()

    def _end(self, task: Task) -> None:
        with self._lock:
            self._tasks.remove(task)
            thread = None if self._tasks else self._thread
            if thread is not None:
                self._ended.set()
                self._thread = None
        if thread is not None:
            thread.join()  # what comes next finds the line gone

    def _draw(self, output: Any, ended: threading.Event) -> None:
        """Write the line again and again until the end, then wipe it out."""
        if ended.wait(AFTER):
            return
        before, plain = 0, not _writes("⠋━", output)
        with contextlib.suppress(OSError, ValueError):  # whoever closed it does not look
            for picture in itertools.cycle("|/-\\" if plain else "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"):
                text = self.text(_width_of(output) - 2, plain=plain)
                line = f"{picture} {text}" if text else ""
                if line or before:
                    output.write("\r" + line.ljust(before))
                    output.flush()
                before = len(line)
                if ended.wait(_STEP):
                    break
            if before:
                wide = min(before + len("^C"), _width_of(output))  # whoever interrupts is echoed
                output.write("\r" + " " * wide + "\r")
                output.flush()


def is_looked_at(output: Any) -> bool:
    """Return whether a person sees an output."""
    if type(output).__module__.startswith("ipykernel"):
        return True
    try:
        return bool(output.isatty())
    except (AttributeError, ValueError):  # none, or closed
        return False


def _text(task: Task, now: float, width: int, *, plain: bool) -> str:
    doing = "".join(each if each.isprintable() else "?" for each in task.doing)
    if plain:
        doing = doing.encode("ascii", "replace").decode()
    passed = _duration(now - task.begun)
    if not task.total:
        return f"{doing}: {passed}"[:width]
    full = round(_BAR * min(1.0, task.done / task.total))
    bar = "#" * full + "." * (_BAR - full) if plain else "━" * full + "╌" * (_BAR - full)
    left = task.seconds_left(now)
    rest = f" {bar} {min(task.done, task.total):,} of {task.total:,}, {passed}"
    rest += "" if left is None else f", about {_duration(left)} left"
    room = max(_LEAST, width - len(rest))
    if len(doing) > room:
        doing = doing[: room - 3] + "..."
    return (doing + rest)[:width]


def _duration(seconds: float) -> str:
    """Return a duration in few words.

    >>> _duration(99.6), _duration(180.0), _duration(9000.0)
    ('100 s', '3 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _writes(text: str, output: Any) -> bool:
    try:
        text.encode(getattr(output, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _width_of(output: Any) -> int:
    """Return the characters in a line of an output, less one: the last may begin another line."""
    try:
        return max(_LEAST, (os.get_terminal_size(output.fileno()).columns or _WIDTH + 1) - 1)
    except (AttributeError, OSError, ValueError):  # a notebook, or closed
        return _WIDTH


shown = Line().shown
