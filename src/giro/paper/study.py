"""Study: a figure or statement of the paper, and the one function that reproduces it.

A study says which experiments it plays and what their traces show. Playing what is missing,
progress, Ctrl-C, printing and writing are the same for all.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from giro.cli.output import (
    check_folder,
    print_json,
    print_line,
    print_results,
    print_table,
    tell,
)
from giro.cli.playing import (
    INTERRUPTED,
    Place,
    check,
    finished_traces,
    say_interrupted,
    say_what_is_judged,
)
from giro.paper.claims import LEVEL, Verdict, finding_records, record, verdict_table
from giro.simulation.chunks import Work
from giro.simulation.experiment import Experiment
from giro.simulation.kept import Kept
from giro.simulation.metrics import curve_records, final_record
from giro.simulation.trace import Trace
from giro.tables import Record, write_csv
from giro.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Tables = Mapping[str, Sequence[Record]]


class Outcome(NamedTuple):
    """What a study found."""

    tables: Tables  # written as CSV files of these names
    document: Mapping[str, Any]  # printed with --json
    show: Callable[[], None]  # prints it for people
    figures: "Callable[[], Mapping[str, Figure]]" = dict  # written as files of these names


class Study(NamedTuple):
    """What is played for a figure or statement of the paper, and what that shows."""

    command: str  # repeats it
    outcome: Callable[[list[Trace], bool], Outcome]  # of traces, and whether all were finished
    experiments: Sequence[Experiment] = ()  # played by this call
    judged: Sequence[Work] = ()  # where kept runs of earlier calls are judged as well: all of it
    runs: int = 0  # of each of these


def reproduce(study: Study, out: Path, *, json: bool, place: Place | None = None) -> None:
    """Play what a study lacks, print what it shows, and write that to the folder `out`.

    After Ctrl-C what was finished is kept and printed; tables and figures are not written.
    """
    import giro.plots as _  # noqa: F401, PLC0415  # not after hours that nothing can be drawn

    check_folder(out)
    command, kept = study.command, Kept()
    traces: list[Trace] = []
    interrupted = False
    if study.experiments:
        kept = Kept(out)
        check(kept, study.judged)
        traces, interrupted = finished_traces(study.experiments, kept, place or Place())
    finished = traces
    if study.judged:
        evidence = kept.evidence(study.judged, runs=study.runs)
        say_what_is_judged(evidence)
        traces = evidence.traces
        if evidence.version != __version__:
            command += f" (runs of giro {evidence.version})"
    outcome = study.outcome(traces, not interrupted)
    if json:
        print_json(outcome.document)
    else:
        outcome.show()
    if interrupted:
        say_interrupted(study.experiments, finished, kept)
        raise typer.Exit(INTERRUPTED)
    for name, records in outcome.tables.items():
        write_csv(out / f"{name}.csv", records, note=command)
    _write_figures(out, outcome, study.command)


def _write_figures(out: Path, outcome: Outcome, command: str) -> None:
    for name, figure in outcome.figures().items():
        from giro.plots import save  # noqa: PLC0415  # quick start without matplotlib

        save(figure, out / f"{name}.png", note=command)
        tell(f"wrote {out / name}.png and the tables beside it")


def tables_of(
    traces: Sequence[Trace], verdicts: Sequence[Verdict], *, curves: bool = True
) -> dict[str, list[Record]]:
    """Return final numbers, verdicts, the comparisons behind them, and curves.

    Where single runs are kept for good, curves would be there twice.
    """
    points = [point for trace in traces for point in curve_records(trace)] if curves else []
    return ({"curves": points} if curves else {}) | {
        "finals": [final_record(trace) for trace in traces],
        "claims": [record(verdict) for verdict in verdicts],
        "comparisons": [line for verdict in verdicts for line in finding_records(verdict)],
    }


def show_results(traces: Sequence[Trace], verdicts: Sequence[Verdict], *, runs: int) -> None:
    """Print the final numbers and, if there are any, the verdicts."""
    print_results(traces, runs=runs)
    if verdicts:
        print_line()
        print_table(*verdict_table(verdicts))
        print_line()


def show_test(comparisons: int) -> None:
    """Print how the claims were tested."""
    level, each = f"{LEVEL:.0%}", f"{LEVEL / comparisons:.2g}"
    print_line(
        f"""Two-sided t tests, run by run; family-wise level {level}, shared equally by
{comparisons} comparisons (Bonferroni, {each} each). A claim holds if all its comparisons hold, and
fails if one fails. Shown is its weakest comparison: the regret saved, the reward per round gained,
or the difference in R² of two fits, with its standard error. All of them are in comparisons.csv."""
    )
