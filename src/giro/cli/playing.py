"""Play experiments at the command line: progress, Ctrl-C, and remarks on kept runs."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from giro.cli.output import complain, progress, tell
from giro.simulation.chunks import Work
from giro.simulation.engines import EngineName
from giro.simulation.experiment import Experiment, run
from giro.simulation.kept import Evidence, Kept
from giro.simulation.trace import Setting, Trace

INTERRUPTED = 130


class Place(NamedTuple):
    """Where runs are played."""

    jobs: int | None = None
    engine: EngineName = "threads"
    address: str | None = None
    fresh: bool = True  # whether runs are played where only another version's are kept


def check(kept: Kept, all_work: Iterable[Work]) -> None:
    """Find out which of the kept runs of this work the present code plays again, with progress."""
    begun = [work for work in all_work if kept.newest(work.setting)]
    if not begun:
        return
    with progress(len(begun)) as advance:
        for work in begun:
            advance(f"checking {work.setting.policy}", 1)
            kept.check([work])


def finished_traces(
    experiments: Sequence[Experiment], kept: Kept, place: Place
) -> tuple[list[Trace], bool]:
    """Return the traces of all runs that ended, and whether Ctrl-C stopped the others."""
    all_work = [work for experiment in experiments for work in experiment.work]
    check(kept, all_work)
    if place.fresh:
        _say_what_stays(kept, all_work)
    wanted = sum(experiment.runs * len(experiment.work) for experiment in experiments)
    traces: list[Trace] = []
    try:
        with progress(wanted) as advance:

            def on_runs(setting: Setting, count: int) -> None:
                advance(setting.policy, count)

            for experiment in experiments:
                for trace in run(experiment, kept, on_runs=on_runs, **place._asdict()):
                    traces.append(trace)  # one by one: those before Ctrl-C are kept
    except KeyboardInterrupt:
        return traces, True
    return traces, False


def _say_what_stays(kept: Kept, all_work: Sequence[Work]) -> None:
    """Say so if there are runs that the present code does not play again."""
    others = (work.setting for work in all_work if not kept.present(work.setting))
    versions = {trace.setting.version for trace in map(kept.newest, others) if trace}
    if versions:
        made_by = " and ".join(sorted(versions))
        tell(
            f"the present code does not play the runs that giro {made_by} left in {kept.folder}: "
            "its own are played, and kept beside them"
        )


def say_interrupted(experiments: Sequence[Experiment], traces: list[Trace], kept: Kept) -> None:
    """Complain that not all runs were played, and say where the others are."""
    finished = sum(trace.runs.size for trace in traces)
    wanted = sum(experiment.runs * len(experiment.work) for experiment in experiments)
    where = f", kept in {kept.folder}" if kept.folder else ""
    complain(f"interrupted: {finished} of {wanted} runs finished{where}")


def say_what_is_judged(evidence: Evidence) -> None:
    """Say so if the runs that are judged are not those that the present code plays."""
    if not evidence.is_present:
        n_runs = sum(t.runs.size for t in evidence.traces if t.setting.version == evidence.version)
        tell(
            f"judging {n_runs} runs made by giro {evidence.version}: the present code draws other "
            "numbers of the same distribution; --fresh plays its own beside them"
        )
