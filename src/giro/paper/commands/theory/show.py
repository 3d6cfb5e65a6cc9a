"""A report as text, as JSON, and as files."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from giro.cli._output import Column, page_width, print_json, print_line, table_text, tell
from giro.cli._targets import check_picture
from giro.version import __version__

if TYPE_CHECKING:
    from giro.paper.reports.report import Report, Statement, Table

_AS_IT_TAKES = 100_000  # columns of a file


def show(make: "Callable[[], Report]", *, json: bool, plot: Path | None) -> None:
    """Make a report, print it, and draw its figure where one is asked for."""
    if plot is not None:
        check_picture(plot)
    report = make()
    if json:
        print_json(document(report))
    else:
        print_line(report_text(report, width=page_width()))
    if plot is not None:
        _draw(report, plot)
        tell(f"wrote {plot}")


def document(report: "Report") -> dict[str, Any]:
    """Return the report as one object: a list of records for each table, and the statements."""
    tables = {table.name.replace("-", "_"): list(table.records) for table in report.tables}
    return {
        "command": report.command,
        "version": __version__,
        **tables,
        "statements": [statement_record(statement) for statement in report.statements],
    }


def statement_record(statement: "Statement") -> dict[str, Any]:
    """Return a statement as a record."""
    return {
        "claim": statement.claim,
        "verdict": statement.verdict,
        "figures": statement.figures,
    }


def report_text(report: "Report", *, width: int) -> str:
    """Return what is needed to repeat the report, its tables, and its statements."""
    parts = [f"{report.command}   (giro {__version__})"]
    parts += [_table_text(table, width) for table in report.tables if table.fields]
    if report.statements:
        columns = [
            Column("statement", words=True),
            Column("verdict"),
            Column("figures", words=True),
        ]
        rows = [[s.claim, s.verdict, s.figures] for s in report.statements]
        parts.append(table_text(columns, rows, width=width))
    return "\n\n".join(parts)


def _table_text(table: "Table", width: int) -> str:
    columns = [
        Column(field.title, right=not _has_words(table, field.key)) for field in table.fields
    ]
    rows = [[field.show(record[field.key]) for field in table.fields] for record in table.records]
    body = table_text(columns, rows, width=width) if rows else "none"
    return f"{table.title}\n{body}"


def _has_words(table: "Table", key: str) -> bool:
    return any(isinstance(record[key], str) for record in table.records)


def write(report: "Report", folder: Path, name: str) -> list[Path]:
    """Write a report's text, tables and figure, each with the command that repeats it."""
    text = folder / f"{name}.txt"
    text.write_text(report_text(report, width=_AS_IT_TAKES) + "\n", encoding="utf-8")
    tables = [folder / f"{name}-{table.name}.csv" for table in report.tables]
    for path, table in zip(tables, report.tables, strict=True):
        write_records(path, list(table.records), report.command)
    figures = [folder / f"{name}.{ending}" for ending in ("png", "svg")]
    for path in figures:
        _draw(report, path)
    return [text, *tables, *figures]


def write_records(path: Path, records: list[Any], command: str) -> None:
    """Write records as CSV below a comment that says what made them."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {command} (giro {__version__})\n")
        if records:
            writer = csv.DictWriter(file, list(records[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(records)


def _draw(report: "Report", path: Path) -> None:
    from giro.plots import save  # noqa: PLC0415  # quick start without matplotlib

    save(report.draw(), path, note=report.command)
