"""Evaluation: estimates of policies on one log, as a table."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from giro.errors import BadParameter

if TYPE_CHECKING:
    import polars as pl

_TITLES = ("policy", "estimator", "value", "se", "low", "high", "events", "effective", "note")
_LEFT = (0, 1, 8)  # columns of words


class Row(NamedTuple):
    """One estimate of the mean reward per event of one policy."""

    policy: str
    estimator: str  # ips, snips, dr, replay or rejection-replay
    value: float
    se: float  # standard error
    low: float  # ends of the confidence interval
    high: float
    events: int  # that the estimate is made of
    effective: float  # effective sample size: equal events that would be as good
    largest: float  # weight of an event
    clipped: int  # weights that were cut
    note: str  # what to beware of


@dataclass(frozen=True)
class Evaluation:
    """What a log says about policies; prints as a table."""

    rows: tuple[Row, ...]
    level: float  # of the confidence intervals
    events: int  # of the log, rewarded
    left_out: int  # decisions without a reward

    def __getitem__(self, estimator: str) -> Row:
        """Return the first row of an estimator, as in `evaluation["dr"].value`."""
        for row in self.rows:
            if row.estimator == estimator:
                return row
        known = ", ".join(dict.fromkeys(row.estimator for row in self.rows))
        raise BadParameter(f"this evaluation has no '{estimator}', but {known}")

    def __str__(self) -> str:
        """Return the table with what is needed to read it."""
        heading = [f"{key:<9}{value}" for key, value in self.heading()]
        rows = [list(_TITLES), *self.cells()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["   ".join(map(_padded, range(len(row)), row, widths)).rstrip() for row in rows]
        return "\n".join([*heading, "", *lines])

    def heading(self) -> list[tuple[str, str]]:
        """Return what holds for all rows."""
        left_out = f"   left out {self.left_out} without reward" if self.left_out else ""
        return [("events", f"{self.events}{left_out}"), ("level", f"{self.level:.4g}")]

    def titles(self) -> tuple[str, ...]:
        """Return the titles of the columns of `cells`."""
        return _TITLES

    def cells(self) -> list[list[str]]:
        """Return the rows as text, numbers with two digits of their uncertainty."""
        known = [row.se for row in self.rows if row.se > 0]
        decimals = min(9, max(0, 1 - math.floor(math.log10(min(known))))) if known else 4
        return [
            [
                row.policy,
                row.estimator,
                *(
                    "-" if math.isnan(x) else f"{x:.{decimals}f}"
                    for x in (row.value, row.se, row.low, row.high)
                ),
                str(row.events),
                f"{row.effective:.0f}",
                row.note,
            ]
            for row in self.rows
        ]

    def records(self) -> list[dict[str, Any]]:
        """Return the rows as mappings."""
        return [{**row._asdict(), "level": self.level} for row in self.rows]

    def to_frame(self) -> "pl.DataFrame":
        """Return the rows as a DataFrame of polars."""
        import polars as pl  # noqa: PLC0415  # quick start without polars

        return pl.DataFrame(self.records())


def joined(evaluations: Sequence[Evaluation]) -> Evaluation:
    """Return one evaluation with the rows of all, which are of the same log."""
    first, rows = evaluations[0], tuple(row for one in evaluations for row in one.rows)
    return Evaluation(rows, first.level, first.events, first.left_out)


def _padded(column: int, cell: str, width: int) -> str:
    return cell.ljust(width) if column in _LEFT else cell.rjust(width)
