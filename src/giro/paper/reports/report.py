"""A report: tables, statements of the paper with their verdicts, and a figure."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from giro.paper.claims import Verdict
from giro.tables import Column, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Table(NamedTuple):
    """Records of one kind. A table without columns is not printed."""

    name: str
    title: str
    columns: Sequence[Column]
    records: Sequence[Record]


def table(name: str, title: str, columns: Sequence[Column], rows: Iterable[Sequence[Any]]) -> Table:
    """Return a table of rows that have a value for each column, in their order."""
    keys = [column.key for column in columns]
    return Table(name, title, columns, [dict(zip(keys, row, strict=True)) for row in rows])


class Report(NamedTuple):
    """What a command found. `command` repeats it, `draw` makes its figure."""

    command: str
    tables: Sequence[Table]
    statements: Sequence[Verdict]
    draw: "Callable[[], Figure]"
