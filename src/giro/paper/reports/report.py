"""A report: tables, statements of the paper with their verdicts, and a figure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from matplotlib.figure import Figure

Record = Mapping[str, Any]


class Field(NamedTuple):
    """A printed column: the key in the records, its title, and how a value is shown."""

    key: str
    title: str
    show: Callable[[Any], str]


class Table(NamedTuple):
    """Records of one kind. Those without fields are written to files and not printed."""

    name: str
    title: str
    fields: Sequence[Field]
    records: Sequence[Record]


class Statement(NamedTuple):
    """A statement, whether it is true of the numbers computed, and these numbers."""

    claim: str
    holds: bool | None  # None: the numbers do not decide it
    figures: str

    @property
    def verdict(self) -> str:
        """Return the word for it."""
        return {True: "holds", False: "fails", None: "undecided"}[self.holds]


@dataclass(frozen=True)
class Report:
    """What a command found. `command` repeats it, `draw` makes its figure."""

    command: str
    tables: Sequence[Table]
    statements: Sequence[Statement]
    draw: Callable[[], Figure]
