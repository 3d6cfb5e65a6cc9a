"""Shapes: the points of small pictures that pages draw without a script."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

WIDTH, HEIGHT = 100.0, 24.0  # of a sparkline
_EDGE = 2.0  # above and below its line


def sparkline(at: Sequence[float], values: Sequence[float]) -> str:
    """Return the points of a line through the values that are known, nothing without two.

    >>> sparkline([0, 1, 2], [0.0, math.nan, 1.0])
    '0.0,22.0 100.0,2.0'
    """
    known = [(x, y) for x, y in zip(at, values, strict=True) if math.isfinite(y)]
    if len(known) < 2:
        return ""
    low, high = min(y for _, y in known), max(y for _, y in known)
    begin, length = known[0][0], known[-1][0] - known[0][0]
    room = HEIGHT - 2 * _EDGE
    points = []
    for x, y in known:
        share = (y - low) / (high - low) if high > low else 0.5
        points.append(f"{WIDTH * (x - begin) / length:.1f},{HEIGHT - _EDGE - room * share:.1f}")
    return " ".join(points)


class Bar(NamedTuple):
    """A bar of a row of bars."""

    x: float
    width: float
    y: float
    height: float


def bars(begin: Sequence[float], end: Sequence[float], values: Sequence[float]) -> list[Bar]:
    """Return a bar for each value that is above 0, where its stretch of time is.

    >>> bars([0, 3], [1, 4], [2.0, 1.0])
    [Bar(x=0.0, width=25.0, y=0.0, height=24.0), Bar(x=75.0, width=25.0, y=12.0, height=12.0)]
    """
    most = max(values, default=0.0)
    if most <= 0.0:
        return []
    first, length = begin[0], end[-1] - begin[0]
    return [
        Bar(
            round(WIDTH * (a - first) / length, 2),
            round(WIDTH * (b - a) / length, 2),
            round(HEIGHT * (1.0 - value / most), 2),
            round(HEIGHT * value / most, 2),
        )
        for a, b, value in zip(begin, end, values, strict=True)
        if value > 0
    ]


class Whisker(NamedTuple):
    """A mean and its interval on a scale that rows share, in per cent of its length."""

    low: float
    mean: float
    high: float


def whiskers(rows: Sequence[dict[str, Any]]) -> list[Whisker | None]:
    """Return the place of each row's `mean`, `low` and `high` on a scale that shows all of them.

    >>> whiskers([{"mean": 1.0, "low": 0.0, "high": 2.0}, {"mean": None}])
    [Whisker(low=3.0, mean=50.0, high=97.0), None]
    """
    known = [row for row in rows if row.get("mean") is not None]
    if not known:
        return [None] * len(rows)
    least, most = min(row["low"] for row in known), max(row["high"] for row in known)
    room = most - least

    def place(x: float) -> float:
        return round(3.0 + 94.0 * (x - least) / room, 2) if room > 0 else 50.0

    return [
        Whisker(place(row["low"]), place(row["mean"]), place(row["high"])) if row in known else None
        for row in rows
    ]
