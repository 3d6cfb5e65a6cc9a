"""`giro simulate`: policies on problems, as a table, records, files and a picture.

Also the functions that all commands share that play experiments: progress, Ctrl-C, and remarks on
kept runs.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer

from giro.cli import options
from giro.cli.main import Interrupted, app
from giro.cli.options import option
from giro.cli.output import (
    check_folder,
    check_picture,
    limit_record,
    print_json,
    print_results,
    tell,
    write_picture,
)
from giro.errors import BadParameter
from giro.problem import Problem
from giro.problems.classification import Classification
from giro.progress import shown
from giro.simulation.engines import EngineName, player_of
from giro.simulation.kept import Kept
from giro.simulation.limit import lai_robbins
from giro.simulation.metrics import final_record
from giro.simulation.play import Work
from giro.simulation.simulate import Experiment, run
from giro.simulation.trace import Setting, Spacing, Trace

_POLICIES = typer.Argument(
    metavar="POLICY", help="As giro:a=1; see giro policies.", show_default=False
)
_LIMIT = "Show the limit of Lai and Robbins, and the slope of regret over it."


class Where(NamedTuple):
    """Where runs are played."""

    jobs: int | None = None
    engine: EngineName = "threads"
    address: str | None = None
    fresh: bool = True  # play runs even if those of another version are kept


@app.command()
def simulate(
    policies: Annotated[list[str], _POLICIES],
    problem: Annotated[
        list[str] | None, option("TEXT", "As beta:v=4; repeatable (default: bernoulli).")
    ] = None,
    data: Annotated[Path | None, option("FILE", "Rows to classify: .parquet, .csv.")] = None,
    label: Annotated[str | None, option("COLUMN", "Column of FILE with the classes.")] = None,
    rounds: options.Rounds = 10_000,
    runs: options.Runs = 100,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    json: options.Json = False,
    out: Annotated[Path | None, option("FOLDER", "Keep the results, or resume there.")] = None,
    plot: options.Plot = None,
    metric: options.Metric = None,
    points: Annotated[int, option("P", "Points of a curve that are kept.")] = 200,
    spacing: Annotated[Spacing, typer.Option(help="How these points are spaced.")] = "even",
    limit: Annotated[bool, typer.Option("--limit", help=_LIMIT)] = False,
    engine: options.Engine = "threads",
    address: options.Address = None,
) -> None:
    """Play policies on problems and show their regret and their reward per round.

    All policies meet the same instances. The numbers depend on the seed, not on --jobs or
    --engine, but that a GPU (--engine cuda) has draws of its own. With --out, runs that are
    already in the folder are not computed again. With --data,
    an arm stands for a class, a row is the context, and the arm of the row's class has reward 1.
    Policies without contexts, such as giro and ucb1, ignore those of such problems. With --limit,
    the constant C of the limit C log n is shown, and by how many times C regret grows near the end,
    when log n grows by 1.

    \b
    Examples:
      giro simulate giro:a=1 ucb1 --rounds 1000 --runs 20
      giro simulate giro:a=1/3 ucb1 --problem bernoulli --problem beta:v=4 --plot regret.pdf
      giro simulate giro --problem "bernoulli:means=[0.7,0.4]" --json
      giro simulate giro imed --problem "beta:means=[0.7,0.5]" --limit --spacing log --plot log.png
      giro simulate giro ucb1 --problem delayed:problem=bernoulli,lag=100
      giro simulate lin-ucb giro-ensemble --problem classification:data=adult,scale=unit --runs 20
      giro simulate lin-ucb --data flowers.parquet --label species --plot reward.png
      giro simulate giro --runs 1000000 --out big --engine dask --address tcp://head:8786
    """
    if label is not None and data is None:
        raise BadParameter(f"a label is a column of a file: --data FILE --label {label}")
    own = [Classification(str(data), label)] if data is not None else []
    problems: list[Problem | str] = [*(problem or ([] if own else ["bernoulli"])), *own]
    experiment = Experiment(problems, policies, rounds, runs, seed, points, spacing)
    if out is not None:
        check_folder(out)
    check_picture(plot)
    played = map(Problem.parse, experiment.problems if limit else ())
    limits = {each.text: lai_robbins(each, runs=runs, seed=seed) for each in played}
    kept = Kept(out)
    traces, interrupted = finished_traces([experiment], kept, Where(jobs, engine, address))
    if json:
        print_json([result_record(trace, limits) for trace in traces])
    else:
        print_results(traces, runs=runs, limits=limits)
    if plot is not None and traces:
        from giro.plots import regret_figure  # noqa: PLC0415  # quick start without matplotlib

        x: Literal["linear", "log"] = "log" if spacing == "log" else "linear"
        write_picture(plot, regret_figure(traces, metric=metric, x=x, limits=limits))
    if interrupted:
        raise interrupted_after([experiment], traces, kept)


def result_record(trace: Trace, limits: Mapping[str, float] | None = None) -> dict[str, Any]:
    """Return the numbers of one policy on one problem, and the setting that repeats them."""
    limit = (limits or {}).get(trace.setting.problem)
    return {
        **final_record(trace),
        **({} if limit is None else limit_record(trace, limit)),
        "seconds": float(trace.seconds.sum()),
        "version": trace.setting.version,
    }


# -- playing ---------------------------------------------------------------------------------------


def check_kept_runs(kept: Kept, all_work: Iterable[Work]) -> None:
    """Find out which kept runs of this work the present code reproduces, and show progress."""
    started = [work for work in all_work if kept.newest(work.setting)]
    if not started:
        return
    with shown("giro checks kept runs", len(started)) as task:
        for work in started:
            kept.check([work])
            task.advance()


def finished_traces(
    experiments: Sequence[Experiment], kept: Kept, where: Where
) -> tuple[list[Trace], bool]:
    """Return the traces of all finished runs, and whether Ctrl-C stopped the others."""
    all_work = [work for experiment in experiments for work in experiment.work]
    if where.engine == "cuda":
        kept.played_by(*player_of(where.engine))
    check_kept_runs(kept, all_work)
    changed = (work.setting for work in all_work if not kept.present(work.setting))
    versions = {trace.setting.version for trace in map(kept.newest, changed) if trace}
    if where.fresh and versions:
        made_by = " and ".join(sorted(versions))
        tell(
            f"the present code does not reproduce the runs that giro {made_by} left in "
            f"{kept.folder}: new ones are played and kept beside them"
        )
    wanted = sum(experiment.runs * len(experiment.work) for experiment in experiments)
    traces: list[Trace] = []
    try:
        with shown("giro plays", wanted) as task:

            def on_runs(setting: Setting, count: int) -> None:
                task.doing = f"giro plays {setting.policy}"
                task.advance(count)

            for experiment in experiments:
                for trace in run(experiment, kept, on_runs=on_runs, **where._asdict()):
                    traces.append(trace)  # one by one: those before Ctrl-C are kept
    except KeyboardInterrupt:
        return traces, True
    return traces, False


def interrupted_after(
    experiments: Sequence[Experiment], traces: list[Trace], kept: Kept
) -> Interrupted:
    """Return an error that says how many runs finished before Ctrl-C, and where they are kept."""
    finished = sum(trace.runs.size for trace in traces)
    wanted = sum(experiment.runs * len(experiment.work) for experiment in experiments)
    where = f", kept in {kept.folder}" if kept.folder else ""
    return Interrupted(f"{finished:,} of {wanted:,} runs finished{where}")
