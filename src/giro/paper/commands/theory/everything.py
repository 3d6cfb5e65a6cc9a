"""`giro theory all`: every table and figure into one folder."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from giro.cli._output import Column, print_json, print_table, tell
from giro.cli._targets import check_folder
from giro.paper.commands.theory.group import theory
from giro.paper.commands.theory.options import Json, Rounds, Runs, Seed
from giro.paper.commands.theory.show import statement_record, write, write_records

if TYPE_CHECKING:
    from giro.paper.reports.report import Report

_MEANS = (0.7, 0.4)
_SHORT = 12  # rounds of the exact regret
_MORE = 20  # times as many runs for it: they are short


@theory.command(name="all")
def everything(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where it goes.")],
    rounds: Rounds = 10_000,
    n: Annotated[int, typer.Option(metavar="N", help="Largest number of trials.")] = 40,
    runs: Runs = 100,
    seed: Seed = 1,
    json: Json = False,
) -> None:
    """Write every table and figure, and print every statement with its verdict.

    For each command a .txt with all it prints, a .csv for each table, a .png and a .svg; and
    statements.csv. All say which command repeats them. Exact regret gets 20 times the runs.

    \b
    Examples:
      giro theory all --out results/theory
    """
    check_folder(out)
    records, files = [], 1
    for name, make in _reports(rounds, n, runs, seed).items():
        report = make()
        files += len(write(report, out, name))
        records += [{"command": name, **statement_record(s)} for s in report.statements]
    command = f"giro theory all --out {out} --rounds {rounds} --n {n} --runs {runs} --seed {seed}"
    write_records(out / "statements.csv", records, command)
    if json:
        print_json(records)
    else:
        columns = [Column(key, words=key in ("claim", "figures")) for key in records[0]]
        print_table(columns, [list(record.values()) for record in records])
    tell(f"wrote {files} files to {out}")


def _reports(rounds: int, n: int, runs: int, seed: int) -> "dict[str, Callable[[], Report]]":
    from giro.paper.reports import (  # noqa: PLC0415  # quick start
        bound,
        exact,
        general_bound,
        lemmas,
        moments,
        optimism,
    )

    pulls = [k for k in (1, 2, 3, 6, 12, 30, 60, 120) if k <= 3 * n]
    general = general_bound.Question(_MEANS, rounds, 1.0, runs, seed)
    small = exact.Question("giro:a=1", None, _MEANS, _SHORT, _MORE * runs, seed)
    return {
        "bound": lambda: bound.bound_report(_MEANS, rounds, 1.0),
        "general-bound": lambda: general_bound.general_bound_report(general),
        "optimism": lambda: optimism.optimism_report([1 / 3, 1.0, 2.0, 3.0], pulls, None),
        "moments": lambda: moments.moments_report(12, 0.7, 1.0, most_pulls=n),
        "lemmas": lambda: lemmas.lemmas_report(n),
        "exact-giro": lambda: exact.exact_report(small),
        "exact-bootstrap": lambda: exact.exact_report(small._replace(policy="bootstrap:pulls=1")),
    }
