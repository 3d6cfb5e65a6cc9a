"""`giro reproduce ...`: what the paper shows, one subcommand a figure or statement.

Each subcommand lives in a file of its own, reproduce_*.py, which adds itself to this one.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from giro.cli._app import app
from giro.cli._output import tell
from giro.simulation.tables import Record, write_made_by, write_table
from giro.version import __version__

reproduce = typer.Typer(rich_markup_mode=None, no_args_is_help=True)
app.add_typer(reproduce, name="reproduce", help="Reproduce what the paper shows, and judge it.")


def option(metavar: str, text: str) -> Any:
    """Return an option that takes a value."""
    return typer.Option(metavar=metavar, help=text)


_FRESH = "Play runs also where only those of an older version are kept, beside them."

Rounds: TypeAlias = Annotated[int, option("N", "Rounds of one run.")]
Runs: TypeAlias = Annotated[int, option("R", "Repetitions.")]
Seed: TypeAlias = Annotated[int, option("S", "Same seed, same numbers.")]
Jobs: TypeAlias = Annotated[int | None, option("J", "Threads (default: all cores).")]
Out: TypeAlias = Annotated[Path, option("FOLDER", "Tables, figures and runs; resumed there.")]
Fresh: TypeAlias = Annotated[bool, typer.Option("--fresh", help=_FRESH)]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print records, not tables.")]


def write_tables(
    folder: Path, tables: Mapping[str, Sequence[Record]], made_by: str, version: str = __version__
) -> None:
    """Write tables and the command that makes them anew; without rows, none of before is left."""
    for name, records in tables.items():
        if records:
            write_table(folder, name, records)
        else:
            (folder / f"{name}.csv").unlink(missing_ok=True)
    write_made_by(folder, made_by, version)


def write_figure(folder: Path, figure: Any, made_by: str, *, name: str = "regret") -> None:
    """Write the figure as PNG and SVG, and say so."""
    from giro.plots import save  # noqa: PLC0415  # quick start without matplotlib

    for ending in ("png", "svg"):
        save(figure, folder / f"{name}.{ending}", note=made_by)
    tell(f"wrote {folder / name}.png, .svg and the tables beside them")
