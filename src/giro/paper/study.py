"""Study: a figure or statement of the paper, with its experiments and its outcome.

A study says which experiments it plays and what their traces show. Playing missing runs, progress,
Ctrl-C, printing and writing are the same for all studies: `giro reproduce` does that.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from giro.cli.output import print_line, print_results, print_table
from giro.paper.claims import LEVEL, Verdict, finding_records, verdict_record, verdict_table
from giro.simulation.metrics import curve_records, final_record
from giro.simulation.trace import Trace
from giro.tables import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from giro.simulation.play import Work
    from giro.simulation.simulate import Experiment

Tables = Mapping[str, Sequence[Record]]


class Outcome(NamedTuple):
    """The results of a study."""

    tables: Tables  # written as CSV files of these names
    document: Mapping[str, Any]  # printed with --json
    show: Callable[[], None]  # prints the results for people
    figures: "Callable[[], Mapping[str, Figure]]" = dict  # written as files of these names


class Study(NamedTuple):
    """The experiments for a figure or statement of the paper, and how to get its outcome."""

    command: str  # repeats the study
    outcome: Callable[[list[Trace], bool], Outcome]  # takes traces, and whether all are finished
    experiments: "Sequence[Experiment]" = ()  # played by this call
    judged: "Sequence[Work]" = ()  # all work, if kept runs of earlier calls are judged as well
    runs: int = 0  # of each work that is judged
    by_comparison: bool = False  # whether each comparison has the version with most runs of it


def tables_of(
    traces: Sequence[Trace], verdicts: Sequence[Verdict], *, curves: bool = True
) -> dict[str, list[Record]]:
    """Return final numbers, verdicts, the comparisons behind them, and curves.

    If single runs are kept for good, curves would be stored twice.
    """
    points = [point for trace in traces for point in curve_records(trace)] if curves else []
    return ({"curves": points} if curves else {}) | {
        "finals": [final_record(trace) for trace in traces],
        "claims": [verdict_record(verdict) for verdict in verdicts],
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
