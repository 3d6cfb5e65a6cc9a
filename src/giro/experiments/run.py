"""Run what is missing, keep what is there."""

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from giro.errors import BadFile, GiroError
from giro.experiments.experiment import Cell, Experiment
from giro.experiments.source import run_digest
from giro.policy import Policy
from giro.simulation.chunks import Work
from giro.simulation.engines import Engine, EngineName, open_engine
from giro.simulation.trace import Setting, Trace, merge

_SAVE_EVERY = 20.0  # seconds, for each second (at least one) that saving takes

OnRun = Callable[[Setting, int], None]


def run(
    experiment: Experiment,
    folder: Path | None = None,
    *,
    jobs: int | None = None,
    on_runs: OnRun | None = None,
    engine: EngineName = "threads",
    address: str | None = None,
    by_source: bool = False,
) -> Iterator[Trace]:
    """Yield the trace of each policy on each problem, in the experiment's order.

    With a folder, every trace is kept there in a file named after what made it; runs already
    there are not computed again. `by_source` keeps apart what other code made, in folders below
    it; the code is that of the policy, of the problem and of all they import. `on_runs` is told
    how many runs of which setting have just been computed or found. After Ctrl-C the finished
    runs are saved and yielded, then it is raised. `engine` and `address` are those of `simulate`;
    the engine starts when there is work for it.
    """
    shelves = [(cell, _shelf(cell, folder, by_source)) for cell in experiment.cells()]
    with ExitStack() as stack:
        opened = open_engine(engine, jobs=jobs, address=address)
        player = functools.cache(lambda: stack.enter_context(opened))
        for cell, shelf in shelves:  # known before hours of play, in which source may be edited
            pieces, interrupted = _complete(cell, experiment.runs, shelf, player, on_runs)
            if pieces:
                yield merge(pieces).only(experiment.runs)
            if interrupted:
                raise KeyboardInterrupt


def kept_traces(
    experiment: Experiment, folder: Path | None, *, by_source: bool = False
) -> list[Trace]:
    """Return what a folder holds of an experiment, at most its number of runs."""
    kept = [
        trace
        for cell in experiment.cells()
        for trace in _kept(cell, _shelf(cell, folder, by_source))
    ]
    asked_for = [trace.only(experiment.runs) for trace in kept]
    return [trace for trace in asked_for if trace.runs.size]


def _shelf(cell: Cell, folder: Path | None, by_source: bool) -> Path | None:
    """Return the folder for what this code makes of a policy and a problem."""
    if folder is None or not by_source:
        return folder
    return folder / run_digest(cell.policy, cell.problem)


def trace_file(folder: Path, setting: Setting) -> Path:
    """Return where the trace of a setting is kept."""
    return folder / f"{setting.slug}.parquet"


def load_folder(folder: Path) -> list[Trace]:
    """Return every trace in a folder, ordered by problem and policy.

    If it holds folders for what different code made, those in them, and of two with the same
    setting the newer.
    """
    if not folder.is_dir():
        raise BadFile(f"there is no folder {folder}")
    paths = list(folder.glob("*.parquet")) or list(folder.glob("*/*.parquet"))
    traces = [Trace.load(path) for path in sorted(paths, key=lambda path: path.stat().st_mtime)]
    if not traces:
        raise BadFile(f"no results of giro in {folder}: make some with giro simulate --out")
    newest = {trace.setting: trace for trace in traces}.values()
    return sorted(newest, key=lambda trace: (trace.setting.problem, trace.setting.policy))


def _complete(
    cell: Cell,
    runs: int,
    folder: Path | None,
    player: Callable[[], Engine],
    on_runs: OnRun | None,
) -> tuple[list[Trace], bool]:
    """Return traces that together hold all runs, or those there were when interrupted."""
    pieces = _kept(cell, folder)
    there = {int(number) for piece in pieces for number in piece.runs}
    missing = [number for number in range(runs) if number not in there]
    report = on_runs or (lambda setting, count: None)
    report(cell.setting, runs - len(missing))
    if not missing:
        return pieces, False
    next_save = time.monotonic() + _SAVE_EVERY
    work = Work(cell.policy, cell.problem, cell.setting)
    try:
        for trace in player().finished(work, missing):
            pieces.append(trace)
            report(cell.setting, trace.runs.size)
            if time.monotonic() > next_save:
                began = time.monotonic()
                pieces = _keep(cell, pieces, folder)
                next_save = time.monotonic() + _SAVE_EVERY * max(1.0, time.monotonic() - began)
        return _keep(cell, pieces, folder), False
    except KeyboardInterrupt:
        return _keep(cell, pieces, folder), True
    except Exception:
        _keep(cell, pieces, folder)
        raise


def _kept(cell: Cell, folder: Path | None) -> list[Trace]:
    """Return what the folder already holds; a policy that has no text is always run anew."""
    if folder is None or not _is_repeatable(cell.policy):
        return []
    path = trace_file(folder, cell.setting)
    return [Trace.load(path)] if path.exists() else []


def _keep(cell: Cell, pieces: list[Trace], folder: Path | None) -> list[Trace]:
    if not pieces:
        return []
    whole = merge(pieces)
    if folder is not None:
        whole.save(trace_file(folder, cell.setting))
    return [whole]


def _is_repeatable(policy: Policy) -> bool:
    """Tell whether the policy's text says all about it (a user's function has only a name)."""
    try:
        return Policy.parse(policy.text) == policy
    except GiroError:
        return False
