"""What the commands print: tables, JSON, complaints and progress."""

import io
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

_UNLIMITED = 100_000  # columns of a file or a pipe
_NARROWEST = 16  # columns of text below which folding makes it unreadable


class Column(NamedTuple):
    """A column of a table: words are folded to fit the terminal, numbers and names never."""

    title: str
    words: bool = False
    right: bool = False


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Print an aligned table without decoration, one line a row unless a terminal is narrow."""
    print_line(table_text(columns, rows, width=page_width()))


def table_text(columns: Sequence[Column], rows: Sequence[Sequence[str]], *, width: int) -> str:
    """Return a table of at most `width` columns, or of as many as its numbers need."""
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="", show_edge=False)
    for i, column in enumerate(columns):
        cells = [column.title, *(row[i] for row in rows)]
        table.add_column(
            column.title,
            justify="right" if column.right else "left",
            no_wrap=not column.words,
            overflow="fold",
            min_width=min(_NARROWEST if column.words else _UNLIMITED, max(map(len, cells))),
        )
    for row in rows:
        table.add_row(*row)
    page = io.StringIO()
    console = Console(file=page, width=_UNLIMITED, markup=False, emoji=False, highlight=False)
    console.print(table, width=max(width, console.measure(table).minimum))
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines())


def print_line(text: str = "") -> None:
    """Print a line of results, never cut or folded."""
    print(text)


def print_json(document: Sequence[Any] | Mapping[str, Any]) -> None:
    """Print records, or tables of records, as JSON; a number that is not finite becomes null."""
    print(json.dumps(_without_nan(document), indent=2, allow_nan=False))


def _without_nan(value: Any) -> Any:
    match value:
        case Mapping():
            return {key: _without_nan(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_without_nan(inner) for inner in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


def complain(sentence: str) -> None:
    """Print one sentence on standard error."""
    print(f"giro: {' '.join(sentence.split())}", file=sys.stderr)


def tell(sentence: str) -> None:
    """Print a remark on standard error, apart from the results."""
    print(sentence, file=sys.stderr)


def page_width() -> int:
    """Return the columns of the terminal; a file or a pipe has as many as it takes."""
    return Console().width if sys.stdout.isatty() else _UNLIMITED


@contextmanager
def progress(total: int) -> Iterator[Callable[[str, int], None]]:
    """Show how many of `total` runs are done; gives a function of what goes on and runs ended.

    Nothing is shown unless standard error is a terminal.
    """
    if not sys.stderr.isatty():
        yield lambda doing, runs: None
        return
    with _bar() as bar:
        task = bar.add_task("starting", total=total)
        yield lambda doing, runs: bar.update(task, advance=runs, description=doing)


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        transient=True,
    )


class _Rate(ProgressColumn):
    """Runs per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.1f} runs/s" if task.speed else "")
