"""Evaluation: estimates of policies on one log, as a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from giro.errors import BadParameter
from giro.tables import Column, decimals_for, fixed, table_html, table_text

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


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


@dataclass(frozen=True, repr=False)
class Evaluation:
    """The estimates of policies from one log: it prints as a table, and a notebook shows one."""

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
        """Return the heading and the table."""
        heading = [f"{key:<9}{value}" for key, value in self.heading()]
        return "\n".join([*heading, "", table_text(self.columns(), self.records())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows."""
        heading = ", ".join(f"{key} {value}" for key, value in self.heading())
        return table_html(self.columns(), self.records(), heading=heading)

    def plot(self) -> "Figure":
        """Return a figure of all estimates with their intervals.

        It needs `giro-bandits[plots]`.
        """
        from giro.plots import forest_figure  # noqa: PLC0415  # quick start without matplotlib

        return forest_figure(self)

    def heading(self) -> list[tuple[str, str]]:
        """Return the values that are the same in all rows."""
        left_out = f"   left out {self.left_out} without reward" if self.left_out else ""
        return [("events", f"{self.events}{left_out}"), ("level", f"{self.level:.4g}")]

    def columns(self) -> list[Column]:
        """Return how `records` are shown: numbers with two digits of their uncertainty."""
        number = fixed(decimals_for([row.se for row in self.rows], most=9, unknown=4))
        return [
            Column("policy", words=True),
            Column("estimator"),
            *(Column(key, show=number) for key in ("value", "se", "low", "high")),
            Column("events"),
            Column("effective", show="{:.0f}".format),
            Column("note", words=True),
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
