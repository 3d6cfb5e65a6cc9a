"""Tables of records: how columns are described, printed, and written as CSV."""

import csv
import html
import io
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from giro.files import write_whole

Record = Mapping[str, Any]

UNLIMITED = 100_000  # characters in a line of a file or a pipe
_NARROWEST = 16  # characters: text folded to fewer is unreadable
_GAP = 3  # characters between two columns
_DIGITS = 6  # of a number in a CSV file


class Column(NamedTuple):
    """A column of a table. Words are folded to fit the terminal, numbers and names never."""

    key: str
    title: str | None = None  # None: the key
    show: Callable[[Any], str] = str
    words: bool = False
    right: bool | None = None  # None: right unless some value is a string
    optional: bool = False  # left out if the terminal is too narrow, the last one first

    @property
    def heading(self) -> str:
        """The title."""
        return self.key if self.title is None else self.title


def table_text(
    columns: Sequence[Column], records: Sequence[Record], *, width: int = UNLIMITED
) -> str:
    """Return an aligned plain table, at most `width` characters wide if its numbers fit."""
    from rich.console import Console  # noqa: PLC0415  # quick start
    from rich.table import Table  # noqa: PLC0415  # quick start

    shown = list(columns)
    while _narrowest(shown, records) > width and any(column.optional for column in shown):
        shown.remove([column for column in shown if column.optional][-1])
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="")
    for column in shown:
        table.add_column(
            column.heading,
            justify="left" if _is_text(column, records) else "right",
            no_wrap=not column.words,
            overflow="fold",
            min_width=_least(column, records),
        )
    for record in records:
        table.add_row(*(column.show(record[column.key]) for column in shown))
    page = io.StringIO()
    console = Console(
        file=page,
        width=UNLIMITED,
        markup=False,
        emoji=False,
        highlight=False,
        force_jupyter=False,  # in a notebook the table would be shown, and not returned
    )
    console.print(table, width=max(width, _narrowest(shown, records)))
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines())


def table_html(
    columns: Sequence[Column],
    records: Sequence[Record],
    *,
    heading: str,
    notes: Sequence[str] = (),
    bar: str | None = None,
) -> str:
    """Return a table for a notebook, in its own colours, whether these are light or dark.

    A heading is above it, and notes below. The share `bar` is also drawn, behind its number.
    """
    sides = ["left" if _is_text(column, records) else "right" for column in columns]
    rows = [
        "".join(
            f'<td style="text-align: {side}{_bar(record, column, bar)}">'
            f"{html.escape(column.show(record[column.key]))}</td>"
            for column, side in zip(columns, sides, strict=True)
        )
        for record in records
    ]
    titles = "".join(
        f'<th style="text-align: {side}">{html.escape(column.heading)}</th>'
        for column, side in zip(columns, sides, strict=True)
    )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    below = "".join(f"<div>{html.escape(note)}</div>" for note in notes if note)
    return (
        f"<div><div><strong>{html.escape(heading)}</strong></div>"
        f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>{below}</div>"
    )


def _bar(record: Record, column: Column, bar: str | None) -> str:
    """Return the style of a cell that shows how large a share is."""
    if column.key != bar:
        return ""
    blue, part = "rgba(64, 140, 220, 0.35)", f"{100 * record[bar]:.1f}%"
    return f"; background: linear-gradient(to right, {blue} {part}, transparent {part})"


def _is_text(column: Column, records: Sequence[Record]) -> bool:
    """Return whether a column is aligned to the left."""
    is_text = any(isinstance(record[column.key], str) for record in records)
    return is_text if column.right is None else not column.right


def _narrowest(columns: Sequence[Column], records: Sequence[Record]) -> int:
    return sum(_least(column, records) for column in columns) + _GAP * (len(columns) - 1)


def _least(column: Column, records: Sequence[Record]) -> int:
    """Return the width that a column needs, in characters."""
    longest = max(map(len, [column.heading, *(column.show(r[column.key]) for r in records)]))
    return min(longest, _NARROWEST) if column.words else longest


def fixed(decimals: int) -> Callable[[float | None], str]:
    """Return a format with this number of decimals and a dash for NaN and None."""
    return lambda value: "-" if value is None or math.isnan(value) else f"{value:.{decimals}f}"


def decimals_for(errors: Sequence[float], *, most: int = 4, unknown: int = 1) -> int:
    """Return the number of decimals that shows two digits of the smallest positive error.

    >>> decimals_for([4.2, 16.3]), decimals_for([123.0]), decimals_for([0.02, 1.0])
    (1, 0, 3)
    """
    positive = [error for error in errors if error > 0]
    return min(most, max(0, 1 - math.floor(math.log10(min(positive))))) if positive else unknown


def write_csv(path: Path, records: Sequence[Record], *, note: str = "") -> None:
    """Write records as CSV below the note, which is a comment. Without records, remove the file."""
    if not records:
        path.unlink(missing_ok=True)
        return
    page = io.StringIO(newline="")
    if note:
        page.write(f"# {note}\n")
    rows = csv.writer(page, lineterminator="\n")
    rows.writerow(records[0])
    rows.writerows([_csv_text(value) for value in record.values()] for record in records)
    write_whole(path, [page.getvalue().encode()])


def _csv_text(value: Any) -> str:
    if not isinstance(value, float):
        return "" if value is None else str(value)
    return "" if math.isnan(value) else f"{value:.{_DIGITS}g}"
