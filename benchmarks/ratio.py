"""Ours against theirs: measured in one run, and held against a bar."""

import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Self


class Ratio(NamedTuple):
    """One bar: two numbers, how they compare, and whether that is enough."""

    name: str
    ours: float
    theirs: float
    ratio: float
    unit: str
    bar: str  # what the ratio should be, such as "<= 3"
    reached: bool

    @classmethod
    def at_most(cls, name: str, *, ours: float, theirs: float, bar: float, unit: str) -> Self:
        """Return how many times `theirs` we need, which should be little."""
        ratio = ours / theirs
        return cls(name, ours, theirs, ratio, unit, f"<= {bar:g}", ratio <= bar)

    @property
    def verdict(self) -> str:
        """In words, whether the bar was reached."""
        return "reached" if self.reached else "NOT reached"


class Cost(NamedTuple):
    """The least that some repeats of the same work took, in seconds."""

    cpu: float  # of all threads: what others do on the machine matters little
    wall: float


def cost_of(work: Callable[[], object]) -> Cost:
    """Return what doing the work once takes."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return Cost(time.process_time() - cpu, time.perf_counter() - wall)


def least(costs: Sequence[Cost]) -> Cost:
    """Return the least processor and the least wall time.

    >>> least([Cost(1.0, 4.0), Cost(2.0, 3.0)])
    Cost(cpu=1.0, wall=3.0)
    """
    return Cost(min(cost.cpu for cost in costs), min(cost.wall for cost in costs))


def results(quick: bool) -> Path:
    """Return the folder for results, or another one for what only shows that it works."""
    root = Path(__file__).parents[1]
    return root / ".benchmarks" / "quick" if quick else root / "results"


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def say(text: str) -> None:
    """Show progress."""
    print(text, file=sys.stderr, flush=True)


def shown(value: float) -> str:
    """Return a number with three digits that count.

    >>> shown(0.012345), shown(3.14159), shown(98765.0)
    ('0.0123', '3.14', '98,765')
    """
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:,.{digits}f}"
