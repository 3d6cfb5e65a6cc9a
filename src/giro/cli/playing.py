"""Play an experiment at the command line: progress, Ctrl-C, and what is there after it."""

from pathlib import Path
from typing import NamedTuple

from giro.cli.output import complain, progress
from giro.experiments.experiment import Experiment
from giro.experiments.run import run
from giro.simulation.engines import EngineName
from giro.simulation.trace import Setting, Trace

INTERRUPTED = 130


class Place(NamedTuple):
    """Where runs are played and kept."""

    folder: Path | None
    jobs: int | None = None
    engine: EngineName = "threads"
    address: str | None = None
    by_source: bool = False  # whether what other code made is left aside


def finished_traces(experiment: Experiment, place: Place) -> tuple[list[Trace], bool]:
    """Return the traces of all runs that ended, and whether Ctrl-C stopped the others."""
    traces = []
    try:
        with progress(experiment.runs * len(list(experiment.cells()))) as advance:

            def on_runs(setting: Setting, count: int) -> None:
                advance(setting.policy, count)

            for trace in run(
                experiment,
                place.folder,
                by_source=place.by_source,
                on_runs=on_runs,
                jobs=place.jobs,
                engine=place.engine,
                address=place.address,
            ):
                traces.append(trace)  # one by one: those before Ctrl-C are kept
    except KeyboardInterrupt:
        return traces, True
    return traces, False


def say_what_is_there(experiment: Experiment, traces: list[Trace], folder: Path | None) -> None:
    """Complain that not all runs were played, and say where the others are."""
    finished = sum(trace.runs.size for trace in traces)
    wanted = experiment.runs * len(list(experiment.cells()))
    kept = f", kept in {folder}" if folder else ""
    complain(f"interrupted: {finished} of {wanted} runs finished{kept}")
