"""Ours against theirs: measured in turn, in one run, and held against a bar."""

import csv
import json
import math
import os
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from giro import Trace, simulate
from giro.version import stamp


class Ratio(NamedTuple):
    """One bar: two numbers, how they compare, and whether that is enough."""

    name: str
    ours: float | None
    theirs: float | None
    ratio: float | None
    unit: str
    bar: str  # what the ratio should be, such as ">= 50"; empty where there is none
    reached: bool | None
    note: str = ""

    @classmethod
    def faster(
        cls, name: str, *, ours: float, theirs: float, bar: float, unit: str, note: str = ""
    ) -> Self:
        """Return how many times less time we take."""
        ratio = theirs / ours
        return cls(name, ours, theirs, ratio, unit, f">= {bar:g}", ratio >= bar, note)

    @classmethod
    def more(
        cls, name: str, *, ours: float, theirs: float, bar: float, unit: str, note: str = ""
    ) -> Self:
        """Return how many times more we get done."""
        ratio = ours / theirs
        return cls(name, ours, theirs, ratio, unit, f">= {bar:g}", ratio >= bar, note)

    @classmethod
    def at_most(
        cls, name: str, *, ours: float, theirs: float, bar: float, unit: str, note: str = ""
    ) -> Self:
        """Return how many times `theirs` we need, which should be little."""
        ratio = ours / theirs
        return cls(name, ours, theirs, ratio, unit, f"<= {bar:g}", ratio <= bar, note)

    @classmethod
    def missing(cls, name: str, *, unit: str, bar: float, note: str) -> Self:
        """Return a bar that could not be measured, and why."""
        return cls(name, None, None, None, unit, f">= {bar:g}", None, note)

    @property
    def verdict(self) -> str:
        """In words, whether the bar was reached."""
        return {True: "reached", False: "NOT reached", None: "NOT measured"}[self.reached]


class Play(NamedTuple):
    """A simulation to be timed."""

    policy: str
    problem: str
    rounds: int
    runs: int = 1
    jobs: int | None = 1
    seed: int = 0

    def __call__(self) -> Trace:
        """Play it."""
        return simulate(
            self.policy,
            self.problem,
            rounds=self.rounds,
            runs=self.runs,
            seed=self.seed,
            jobs=self.jobs,
        )

    def compiled(self) -> Self:
        """Return the same, now without compiling ahead of it."""
        simulate(self.policy, self.problem, rounds=1, runs=1)
        return self


class Cost(NamedTuple):
    """The least that some repeats of the same work took, in seconds."""

    cpu: float  # of all threads: what others do on the machine matters little
    wall: float


def cost_of(work: Callable[[], object]) -> Cost:
    """Return what doing the work once takes."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return Cost(time.process_time() - cpu, time.perf_counter() - wall)


def in_turn(works: Mapping[str, Callable[[], object]], *, repeats: int) -> dict[str, Cost]:
    """Return the least cost of each work; they take turns, so that noise hits all alike."""
    costs: dict[str, list[Cost]] = {name: [] for name in works}
    for repeat in range(repeats):
        for name, work in works.items():
            say(f"  {repeat + 1}/{repeats} {name}")
            costs[name].append(cost_of(work))
    return {name: least(several) for name, several in costs.items()}


def least(costs: Sequence[Cost]) -> Cost:
    """Return the least processor and the least wall time.

    >>> least([Cost(1.0, 4.0), Cost(2.0, 3.0)])
    Cost(cpu=1.0, wall=3.0)
    """
    return Cost(min(cost.cpu for cost in costs), min(cost.wall for cost in costs))


def ns_per_round(plays: Mapping[str, Play], *, repeats: int) -> dict[str, float]:
    """Return nanoseconds of processor time that a round of each play takes, played in turn."""
    costs = in_turn({name: play.compiled() for name, play in plays.items()}, repeats=repeats)
    return {name: 1e9 * costs[name].cpu / (play.rounds * play.runs) for name, play in plays.items()}


def results(quick: bool) -> Path:
    """Return the folder for results, or another one for what only shows that it works."""
    root = Path(__file__).parents[1]
    return root / ".benchmarks" / "quick" if quick else root / "results"


def kept_rows(path: Path, sections: Collection[str]) -> list[dict[str, Any]]:
    """Return the rows of a file that belong to some sections."""
    if not path.exists():
        return []
    rows = json.loads(path.read_text("utf-8"))["rows"]
    return [row for row in rows if row["section"] in sections]


def csv_lines(path: Path) -> list[dict[str, str]]:
    """Return the lines of a CSV file below its comment, none if there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def write_rows(path: Path, rows: Sequence[dict[str, Any]], *, order: Sequence[str]) -> None:
    """Write all rows, in the order of their sections."""
    made_by = stamp("python benchmarks/run.py")._asdict()
    content = {"made_by": made_by, "rows": sorted(rows, key=lambda r: order.index(r["section"]))}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def say(text: str) -> None:
    """Show progress."""
    print(text, file=sys.stderr, flush=True)


def shown(value: float | None) -> str:
    """Return a number with three digits that count.

    >>> shown(0.012345), shown(3.14159), shown(98765.0), shown(None)
    ('0.0123', '3.14', '98,765', '-')
    """
    if value is None:
        return "-"
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:,.{digits}f}"
