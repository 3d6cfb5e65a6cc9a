"""Run what is missing, keep what is there."""

import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack

from giro.simulation.chunks import Work
from giro.simulation.engines import Engine, EngineName, open_engine
from giro.simulation.experiment import Experiment
from giro.simulation.kept import Kept
from giro.simulation.trace import Setting, Trace, merge

OnRun = Callable[[Setting, int], None]


def run(
    experiment: Experiment,
    kept: Kept | None = None,
    *,
    jobs: int | None = None,
    on_runs: OnRun | None = None,
    engine: EngineName = "threads",
    address: str | None = None,
    fresh: bool = True,
) -> Iterator[Trace]:
    """Yield the trace of each policy on each problem, in the experiment's order.

    Runs that are kept are not computed again if the present code plays the same. Where it plays
    others, its own are played, or unless `fresh` the kept ones are yielded. `on_runs` is told
    how many runs of which setting have just been computed or found. After Ctrl-C the finished
    runs are saved and yielded, then it is raised. `engine` and `address` are those of `simulate`;
    the engine starts when there is work for it.
    """
    kept = Kept() if kept is None else kept
    kept.check(experiment.cells())
    report = on_runs or (lambda setting, count: None)
    with ExitStack() as stack:
        stack.callback(kept.save)
        opened = open_engine(engine, jobs=jobs, address=address)
        player = functools.cache(lambda: stack.enter_context(opened))
        for cell in experiment.cells():
            interrupted = False
            if fresh or kept.newest(cell.setting) is kept.present(cell.setting):
                interrupted = _complete(cell, experiment.runs, kept, player, report)
            else:
                report(cell.setting, experiment.runs)
            trace = kept.present(cell.setting) if fresh else kept.newest(cell.setting)
            if trace:
                yield trace.only(experiment.runs)
            if interrupted:
                raise KeyboardInterrupt


def _complete(
    cell: Work, runs: int, kept: Kept, player: Callable[[], Engine], report: OnRun
) -> bool:
    """Play the runs that a cell lacks; return whether that was interrupted."""
    begun = kept.present(cell.setting)
    pieces = [begun] if begun else []
    there = {int(number) for piece in pieces for number in piece.runs}
    missing = [number for number in range(runs) if number not in there]
    report(cell.setting, runs - len(missing))
    if not missing:
        return False
    labelled = cell._replace(setting=kept.label(cell.setting))
    try:
        for trace in player().finished(labelled, missing):
            pieces.append(trace)
            report(cell.setting, trace.runs.size)
            if kept.is_due:
                pieces = [merge(pieces)]
                kept.put(pieces[0])
                kept.save()
    except KeyboardInterrupt:
        return True
    finally:
        if pieces:
            kept.put(merge(pieces))
    return False
