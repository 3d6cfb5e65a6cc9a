"""Play an experiment at the command line: progress, Ctrl-C, and what is there after it."""

from collections.abc import Sequence
from typing import NamedTuple

from giro.cli._output import complain, progress, tell
from giro.simulation.chunks import Work
from giro.simulation.engines import EngineName
from giro.simulation.experiment import Experiment
from giro.simulation.kept import Evidence, Kept
from giro.simulation.run import run
from giro.simulation.trace import Setting, Trace

INTERRUPTED = 130


class Place(NamedTuple):
    """Where runs are played and kept."""

    kept: Kept
    jobs: int | None = None
    engine: EngineName = "threads"
    address: str | None = None
    fresh: bool = True  # whether runs are played where there are only those of another version


def check(kept: Kept, cells: Sequence[Work]) -> None:
    """Find out which of the runs of these cells the present code plays again, with progress."""
    begun = [cell for cell in cells if kept.newest(cell.setting)]
    if not begun:
        return
    with progress(len(begun)) as advance:
        for cell in begun:
            advance(f"checking {cell.setting.policy}", 1)
            kept.check([cell])


def finished_traces(experiment: Experiment, place: Place) -> tuple[list[Trace], bool]:
    """Return the traces of all runs that ended, and whether Ctrl-C stopped the others."""
    traces, cells = [], list(experiment.cells())
    check(place.kept, cells)
    if place.fresh:
        _say_what_stays(place.kept, cells)
    try:
        with progress(experiment.runs * len(cells)) as advance:

            def on_runs(setting: Setting, count: int) -> None:
                advance(setting.policy, count)

            for trace in run(
                experiment,
                place.kept,
                fresh=place.fresh,
                on_runs=on_runs,
                jobs=place.jobs,
                engine=place.engine,
                address=place.address,
            ):
                traces.append(trace)  # one by one: those before Ctrl-C are kept
    except KeyboardInterrupt:
        return traces, True
    return traces, False


def _say_what_stays(kept: Kept, cells: Sequence[Work]) -> None:
    """Say so if there are runs that the present code does not play again."""
    found = (kept.newest(cell.setting) for cell in cells if not kept.present(cell.setting))
    versions = {trace.setting.version for trace in found if trace}
    if versions:
        made_by = " and ".join(sorted(versions))
        tell(
            f"the present code does not play the runs that giro {made_by} left in {kept.folder}: "
            "its own are played, and kept beside them"
        )


def say_what_is_there(experiment: Experiment, traces: list[Trace], kept: Kept) -> None:
    """Complain that not all runs were played, and say where the others are."""
    finished = sum(trace.runs.size for trace in traces)
    wanted = experiment.runs * len(list(experiment.cells()))
    where = f", kept in {kept.folder}" if kept.folder else ""
    complain(f"interrupted: {finished} of {wanted} runs finished{where}")


def say_what_is_judged(evidence: Evidence) -> None:
    """Say so if the runs that are judged are not those that the present code plays."""
    if not evidence.is_present:
        n_runs = sum(t.runs.size for t in evidence.traces if t.setting.version == evidence.version)
        tell(
            f"judging {n_runs} runs made by giro {evidence.version}: the present code draws other "
            "numbers with the same law; --fresh plays its own beside them"
        )
