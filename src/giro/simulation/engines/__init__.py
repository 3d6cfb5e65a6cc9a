"""Where runs are played: threads of this process, or the workers of a Dask or Ray cluster."""

import os
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Literal, TypeAlias, get_args

from giro.errors import BadParameter, UnknownName
from giro.simulation.chunks import Chunks, Work, play_chunk, warm_up
from giro.simulation.engines._driver import Crew, Engine, drive
from giro.simulation.play import is_compiled
from giro.simulation.trace import Trace

__all__ = ["Engine", "EngineName", "Threads", "open_engine", "resolve_jobs"]

_SECONDS = 0.02  # of a chunk in a thread: many short runs at a time, little to wait for at the end

EngineName: TypeAlias = Literal["threads", "dask", "ray"]


class Threads(Engine):
    """Threads of this process, as kernels release the interpreter lock; processes for the rest."""

    def __init__(self, jobs: int) -> None:
        """Use as many threads."""
        self._jobs = jobs

    def finished(self, work: Work, runs: Sequence[int]) -> Generator[Trace, None, None]:
        """Yield a trace for some runs at a time; closing waits for those under way in threads."""
        if min(self._jobs, len(runs)) > 1 and not is_compiled(work.policy, work.problem):
            from giro.simulation.engines.processes import processes  # noqa: PLC0415  # quick start

            with processes(min(self._jobs, len(runs))) as others:
                yield from others.finished(work, runs)
            return
        warm_up(work)
        with ThreadPoolExecutor(self._jobs) as pool:
            crew = Crew(
                lambda: self._jobs, pool.submit, lambda futures: [f.cancel() for f in futures]
            )
            chunks = Chunks(runs, workers=self._jobs, seconds=_SECONDS)
            yield from drive(crew, chunks, work, play_chunk, work)


def open_engine(
    name: EngineName = "threads", *, jobs: int | None = None, address: str | None = None
) -> AbstractContextManager[Engine]:
    """Return an engine to be opened with `with`, which then closes what was started for it.

    Without an address, Dask and Ray start a cluster of `jobs` processes here (default: one per
    core). With one, they use the cluster that is there, which has workers of its own.
    """
    if name not in get_args(EngineName):
        raise UnknownName("engine", str(name), known=get_args(EngineName))
    if address is not None and name == "threads":
        raise BadParameter("threads have no address: one needs the engine dask or ray")
    if address is not None and jobs is not None:
        raise BadParameter("the cluster at an address has its own workers: leave out jobs")
    n_jobs = resolve_jobs(jobs)
    if name == "threads":
        return nullcontext(Threads(n_jobs))
    if name == "dask":
        from giro.simulation.engines.dask import dask_cluster  # noqa: PLC0415  # an extra

        return dask_cluster(address, jobs=n_jobs)
    from giro.simulation.engines.ray import ray_cluster  # noqa: PLC0415  # an extra

    return ray_cluster(address, jobs=n_jobs)


def resolve_jobs(jobs: int | None) -> int:
    """Return the number of threads or processes: as asked for, or one per core."""
    if jobs is not None and jobs < 1:
        raise BadParameter(f"jobs is at least 1, got {jobs}")
    if jobs is not None:
        return jobs
    allowed = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(allowed(0)) if allowed else os.cpu_count() or 1
