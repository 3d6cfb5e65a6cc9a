"""`giro simulate`: policies on problems, as a table, records, files and a picture."""

from pathlib import Path
from typing import Annotated, Any

import typer

from giro.cli._app import app
from giro.cli._engine import Address, Engine
from giro.cli._output import print_json, tell
from giro.cli._playing import INTERRUPTED, Place, finished_traces, say_what_is_there
from giro.cli._results import print_results, record
from giro.cli._targets import check_folder, check_picture
from giro.cli.plot import WHICH
from giro.errors import BadParameter
from giro.problem import Problem
from giro.problems import Classification
from giro.simulation.checkpoints import Spacing
from giro.simulation.experiment import Experiment
from giro.simulation.kept import Kept
from giro.simulation.metrics import Metric
from giro.simulation.trace import Trace


def _option(metavar: str, text: str) -> Any:
    return typer.Option(metavar=metavar, help=text)


def _argument(metavar: str, text: str) -> Any:
    return typer.Argument(metavar=metavar, help=text, show_default=False)


@app.command()
def simulate(
    policies: Annotated[list[str], _argument("POLICY", "As giro:a=1; see giro policies.")],
    problem: Annotated[
        list[str] | None, _option("TEXT", "As beta:v=4; may be repeated (default: bernoulli).")
    ] = None,
    data: Annotated[Path | None, _option("FILE", "Rows to be classified: .parquet, .csv.")] = None,
    label: Annotated[str | None, _option("COLUMN", "Column of FILE with the classes.")] = None,
    rounds: Annotated[int, _option("N", "Rounds of one run.")] = 10_000,
    runs: Annotated[int, _option("R", "Repetitions.")] = 100,
    seed: Annotated[int, _option("S", "Same seed, same numbers.")] = 0,
    jobs: Annotated[int | None, _option("J", "Threads or processes (default: all cores).")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print records, not a table.")] = False,
    out: Annotated[Path | None, _option("FOLDER", "Keep the results, or resume there.")] = None,
    plot: Annotated[Path | None, _option("FILE", "Picture: .png, .svg or .pdf.")] = None,
    metric: Annotated[Metric | None, typer.Option(help=WHICH)] = None,
    points: Annotated[int, _option("P", "Points of a curve that are kept.")] = 200,
    spacing: Annotated[Spacing, typer.Option(help="How these points lie.")] = "even",
    engine: Engine = "threads",
    address: Address = None,
) -> None:
    """Play policies on problems and show their regret and their reward per round.

    All policies meet the same instances. The numbers depend on the seed, not on --jobs or
    --engine. With --out, runs that are already in the folder are not computed again. With --data,
    an arm stands for a class, a row is the context, and the arm of the row's class has reward 1.

    \b
    Examples:
      giro simulate giro:a=1 ucb1 --rounds 1000 --runs 20
      giro simulate giro:a=1/3 ucb1 --problem bernoulli --problem beta:v=4 --plot regret.pdf
      giro simulate giro --problem "bernoulli:means=[0.7,0.4]" --json
      giro simulate giro ucb1 --problem classification:data=adult,scale=unit --runs 20
      giro simulate giro ucb1 --data flowers.parquet --label species --plot reward.png
      giro simulate giro --runs 1000000 --out big --engine dask --address tcp://head:8786
    """
    problems = _problems(problem, data, label)
    experiment = Experiment(problems, policies, rounds, runs, seed, points, spacing)
    if out is not None:
        check_folder(out)
    if plot is not None:
        check_picture(plot)
    kept = Kept(out)
    traces, interrupted = finished_traces(experiment, Place(kept, jobs, engine, address))
    if json:
        print_json([record(trace) for trace in traces])
    else:
        print_results(traces, runs=runs)
    if plot is not None and traces:
        _draw(traces, plot, spacing, metric)
    if interrupted:
        say_what_is_there(experiment, traces, kept)
        raise typer.Exit(INTERRUPTED)


def _problems(texts: list[str] | None, data: Path | None, label: str | None) -> list[Problem | str]:
    """Return the problems asked for: by text, by a file, or else the one that is usual."""
    if label is not None and data is None:
        raise BadParameter(f"a label is a column of a file: --data FILE --label {label}")
    own = [Classification(str(data), label)] if data is not None else []
    return [*(texts or ([] if own else ["bernoulli"])), *own]


def _draw(traces: list[Trace], path: Path, spacing: Spacing, metric: Metric | None) -> None:
    from giro.plots import regret_figure, save  # noqa: PLC0415  # quick start without matplotlib

    save(regret_figure(traces, metric=metric, x="log" if spacing == "log" else "linear"), path)
    tell(f"wrote {path}")
