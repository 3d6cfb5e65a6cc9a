"""Where runs are played: threads of this process, or the workers of a Dask or Ray cluster."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Literal, TypeAlias, get_args

from giro.errors import BadParameter, GiroError, UnknownName
from giro.simulation.chunks import Work, timed_run, warm_up
from giro.simulation.play import is_compiled
from giro.simulation.trace import Trace

EngineName: TypeAlias = Literal["threads", "dask", "ray"]


class Engine(ABC):
    """Plays runs side by side. Which engine it is changes the time, never the numbers."""

    @abstractmethod
    def finished(self, work: Work, runs: Sequence[int]) -> Generator[Trace, None, None]:
        """Yield traces of one or more runs as they end, in no particular order.

        Closing the iterator (or Ctrl-C) drops the runs not yet begun.
        """


class Threads(Engine):
    """Threads of this process, as kernels release the interpreter lock; processes for the rest."""

    def __init__(self, jobs: int) -> None:
        """Use as many threads."""
        self._jobs = jobs

    def finished(self, work: Work, runs: Sequence[int]) -> Generator[Trace, None, None]:
        """Yield the trace of each run; closing waits for the runs under way."""
        if min(self._jobs, len(runs)) > 1 and not is_compiled(work.policy, work.problem):
            from giro.simulation.processes import processes  # noqa: PLC0415  # quick start

            yield from processes(min(self._jobs, len(runs))).finished(work, runs)
            return
        warm_up(work)
        with ThreadPoolExecutor(self._jobs) as pool:
            try:
                yield from _as_they_end(pool, partial(timed_run, work), runs, ahead=4 * self._jobs)
            finally:
                pool.shutdown(wait=True, cancel_futures=True)


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
    return _cluster(name, address, n_jobs)


def _cluster(name: str, address: str | None, jobs: int) -> AbstractContextManager[Engine]:
    try:
        if name == "dask":
            from giro.simulation.dask_cluster import dask_cluster  # noqa: PLC0415  # an extra

            return dask_cluster(address, jobs=jobs)
        from giro.simulation.ray_cluster import ray_cluster  # noqa: PLC0415  # an extra

        return ray_cluster(address, jobs=jobs)
    except ImportError as error:
        way_out = f"pip install 'giro-bandits[{name}]'"
        raise GiroError(f"the engine {name} is an extra ({error}): {way_out}") from None


def resolve_jobs(jobs: int | None) -> int:
    """Return the number of threads or processes: as asked for, or one per core."""
    if jobs is not None and jobs < 1:
        raise BadParameter(f"jobs is at least 1, got {jobs}")
    if jobs is not None:
        return jobs
    allowed = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def _as_they_end(
    pool: ThreadPoolExecutor, task: Callable[[int], Trace], runs: Sequence[int], *, ahead: int
) -> Iterator[Trace]:
    """Yield results with at most `ahead` tasks under way or waiting, so that memory stays small."""
    waiting: set[Future[Trace]] = set()
    for run in runs:
        waiting.add(pool.submit(task, run))
        if len(waiting) >= ahead:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    while waiting:
        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        yield from (future.result() for future in done)
