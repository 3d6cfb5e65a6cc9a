"""Engines: threads or processes here, the workers of a Dask or Ray cluster, or a GPU.

All engines but the GPU's share one driver, `drive`. Chunks of runs go out, traces come back as they
end, and chunks lost with a worker are sent again. The choice among these changes the time, never
the numbers. A GPU draws others, from the same distribution.
"""

import math
import operator
import os
import pickle
import platform
import socket
import traceback
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from queue import Empty, SimpleQueue
from typing import Any, Literal, NamedTuple, TypeAlias, get_args
from urllib.parse import urlsplit

import numpy as np

from giro.checks import check, optional, whole
from giro.errors import BadParameter, GiroError, MissingExtra, UnknownName
from giro.simulation.kept import CUDA
from giro.simulation.play import Player, Work, is_compiled, play_run, timed_run
from giro.simulation.trace import Trace, merge
from giro.version import __version__

_SECONDS = 2.0  # aim for a chunk: much longer than sending it, little to lose
_SECONDS_PER_WORKER = 0.02  # longer with many workers: some 50 chunks a second can be sent out
_SECONDS_IN_THREADS = 0.02  # many short runs at a time, a short wait at the end
_PER_WORKER = 4  # chunks still ahead of each worker, so that all end together
_SMALLEST = 1 / 20  # share of a full chunk, at the end
_ATTEMPTS = 3  # to play a chunk while no other one ends
_AHEAD = 4  # chunks per worker that are running or waiting
_LOOKS = 5.0  # seconds between checks that results can still come
PATIENCE = 30.0  # seconds to wait for a busy cluster; if nobody listens, it fails at once

EngineName: TypeAlias = Literal["threads", "dask", "ray", "cuda"]


class Engine(ABC):
    """Plays runs side by side. All but the GPU's give the same numbers."""

    @abstractmethod
    def finished(self, work: Work, runs: Sequence[int]) -> Generator[Trace, None, None]:
        """Yield traces of one or more runs as they end, in no particular order.

        Closing the iterator (or Ctrl-C) drops the runs not yet begun.
        """


def open_engine(
    name: EngineName = "threads", *, jobs: int | None = None, address: str | None = None
) -> AbstractContextManager[Engine]:
    """Return an engine as a context manager, which closes everything it has started.

    Without an address, Dask and Ray start a cluster of `jobs` processes here (default: one per
    core). With an address, they use the workers of the cluster there. The GPU of `cuda` plays as
    many runs at once as its memory holds.
    """
    if name not in get_args(EngineName):
        raise UnknownName("engine", str(name), known=get_args(EngineName))
    if address is not None and name in ("threads", "cuda"):
        raise BadParameter("only the engines dask and ray take an address")
    if address is not None and jobs is not None:
        raise BadParameter("the cluster at an address has its own workers: leave out jobs")
    if name == "cuda":
        from giro.simulation.engines.cuda import cuda_engine  # noqa: PLC0415  # an extra

        if jobs is not None:
            raise BadParameter("the engine cuda plays all runs on one GPU: leave out jobs")
        return cuda_engine()
    n_jobs = resolve_jobs(jobs)
    if name == "threads":
        return nullcontext(Threads(n_jobs))
    if name == "dask":
        from giro.simulation.engines.dask import dask_cluster  # noqa: PLC0415  # an extra

        return dask_cluster(address, jobs=n_jobs)
    from giro.simulation.engines.ray import ray_cluster  # noqa: PLC0415  # an extra

    return ray_cluster(address, jobs=n_jobs)


def player_of(name: EngineName) -> tuple[Player, str]:
    """Return the player of the beginning of a run, and the end of its version's name."""
    if name != "cuda":
        return play_run, ""
    from giro.simulation.engines.cuda import Cuda, Gpu  # noqa: PLC0415  # an extra

    return Cuda(Gpu()).begin, CUDA


def resolve_jobs(jobs: int | None) -> int:
    """Return the number of threads or processes, by default one per core."""
    check("an engine", optional(whole(1)), jobs=jobs)
    if jobs is not None:
        return operator.index(jobs)
    allowed = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(allowed(0)) if allowed else os.cpu_count() or 1


class Threads(Engine):
    """Threads of this process for kernels, which release the interpreter lock.

    Runs in plain Python are played by processes.
    """

    def __init__(self, jobs: int) -> None:
        """Use `jobs` threads."""
        self._jobs = jobs

    def finished(self, work: Work, runs: Sequence[int]) -> Generator[Trace, None, None]:
        """Yield a trace for some runs at a time. Closing waits for running threads."""
        if min(self._jobs, len(runs)) > 1 and not is_compiled(work.policy, work.problem):
            from giro.simulation.engines.processes import processes  # noqa: PLC0415  # quick start

            with processes(min(self._jobs, len(runs))) as cluster:
                yield from cluster.finished(work, runs)
            return
        warm_up(work)
        with ThreadPoolExecutor(self._jobs) as pool:
            crew = Crew(
                lambda: self._jobs, pool.submit, lambda futures: [f.cancel() for f in futures]
            )
            chunks = Chunks(runs, workers=self._jobs, seconds=_SECONDS_IN_THREADS)
            yield from drive(crew, chunks, work, play_chunk, work)


# -- the driver ------------------------------------------------------------------------------------


class Crew(NamedTuple):
    """Workers that play chunks. A future is one of concurrent.futures, of Dask, or alike."""

    size: Callable[[], int]
    submit: Callable[..., Any]  # takes a function and its arguments, returns a future
    drop: Callable[[list[Any]], object]  # takes futures, running or not
    lost: tuple[type[Exception], ...] = ()  # errors of the crew, not of the runs
    check: Callable[[], object] = lambda: None  # raises if no result can come any more


class Chunks:
    """Cuts runs into chunks of about two seconds, judging by the runs that have ended.

    >>> [len(chunk) for chunk in Chunks(range(5), workers=1)]
    [1, 1, 1, 1, 1]
    """

    def __init__(self, runs: Sequence[int], *, workers: int, seconds: float | None = None) -> None:
        """Begin with chunks of one run, because their length is unknown.

        With `seconds` 0, all chunks are single runs.
        """
        self._runs, self.workers, self._begin = runs, workers, 0
        usual = max(_SECONDS, workers * _SECONDS_PER_WORKER)
        self._seconds = usual if seconds is None else seconds
        self._size = 1
        self._again: list[list[int]] = []

    def __iter__(self) -> Iterator[list[int]]:
        """Yield the chunks, smaller ones towards the end."""
        return iter(self.take, [])

    def take(self) -> list[int]:
        """Return the next chunk, those given back first. After the last it is empty."""
        if self._again:
            return self._again.pop()
        begin = self._begin
        fair = (len(self._runs) - begin) / (_PER_WORKER * self.workers)
        self._begin += math.ceil(min(self._size, max(fair, self._size * _SMALLEST)))
        return list(self._runs[begin : self._begin])

    def give_back(self, chunk: list[int]) -> None:
        """Return a chunk that nobody has played, to be taken again."""
        self._again.append(chunk)

    @property
    def left(self) -> int:
        """The number of runs that nobody has taken."""
        return max(0, len(self._runs) - self._begin) + sum(map(len, self._again))

    def adapt(self, ended: Trace) -> None:
        """Adapt the size of further chunks to the time that these runs took."""
        self._size = max(1, int(self._seconds / max(float(ended.seconds.mean()), 1e-9)))


def drive(
    crew: Crew,
    chunks: Chunks,
    work: Work,
    *call: Any,
    read: Callable[[Any], Trace] = lambda trace: trace,
) -> Generator[Trace, None, None]:
    """Yield the traces of chunks as they end, with few under way, so that memory stays small.

    `call` is a function and its arguments before the chunk. `read` turns its result into a trace. A
    lost chunk is sent again, until it has been lost three times while no other chunk ended.
    """
    ended: SimpleQueue[Any] = SimpleQueue()
    under_way: dict[Any, list[int]] = {}
    losses: Counter[int] = Counter()  # by first run
    ahead = _AHEAD * chunks.workers
    try:
        while True:
            while len(under_way) < ahead and (chunk := chunks.take()):
                crew.check()
                future = crew.submit(*call, chunk)
                under_way[future] = chunk
                future.add_done_callback(ended.put)
            if not under_way:
                return
            future = _next(ended, crew)
            chunk = under_way.pop(future)
            try:
                trace = read(future.result())
            except crew.lost as error:
                chunks.give_back(chunk)
                losses[chunk[0]] += 1
                if losses[chunk[0]] == _ATTEMPTS:
                    missing = chunks.left + sum(map(len, under_way.values()))
                    reason = " ".join(str(error).split()) or type(error).__name__
                    raise GiroError(
                        f"{missing} runs of {work.setting.policy} did not come back from the "
                        f"workers, though they were sent {_ATTEMPTS} times: {reason}"
                    ) from error
                continue
            losses.clear()
            chunks.adapt(trace)
            yield trace
    finally:
        crew.drop(list(under_way))


def _next(ended: SimpleQueue[Any], crew: Crew) -> Any:
    while True:
        try:
            return ended.get(timeout=_LOOKS)
        except Empty:
            crew.check()


def warm_up(work: Work) -> None:
    """Play one round, so that compiling is not counted as computing time."""
    if is_compiled(work.policy, work.problem):
        play_run(work.policy, work.problem, np.array([1]), seed=0, run=0)


def play_chunk(work: Work, runs: Sequence[int]) -> Trace:
    """Play these runs one after the other and return their trace."""
    return merge([timed_run(work, run) for run in runs])


# -- workers in other processes --------------------------------------------------------------------


class Cluster(Engine):
    """A crew in other processes, here or elsewhere."""

    def __init__(self, crew: Crew) -> None:
        """Use the workers of this crew."""
        self._crew = crew

    def finished(self, work: Work, runs: Sequence[int]) -> Generator[Trace, None, None]:
        """Yield a trace for each chunk. Runs lost with a worker are played again."""
        sent, chunks = send(work), Chunks(runs, workers=self._crew.size())
        try:
            yield from drive(self._crew, chunks, work, play_sent, *sent, read=received)
        except MissingExtra:
            raise
        except ImportError as error:
            raise GiroError(
                f"a worker cannot load the policy or the problem ({error}): install giro, and the "
                "module of your policy or problem, on every machine"
            ) from error


def reach(address: str) -> None:
    """Raise OSError or ValueError if nobody listens at an address such as tcp://host:8786.

    Dask and Ray would try for longer and leave threads behind.
    """
    url = urlsplit(address if "://" in address else f"//{address}")
    if url.hostname is None or url.port is None:
        raise ValueError("an address has the form host:port or tcp://host:port")
    socket.create_connection((url.hostname, url.port), PATIENCE).close()


def send(work: Work) -> tuple[bytes, str]:
    """Return the pickled work, including functions of `__main__`, and the versions to use.

    A worker with other versions could give other numbers, or fail to read the work.
    """
    import cloudpickle  # noqa: PLC0415  # quick start

    return cloudpickle.dumps(work), versions()


def play_sent(work: bytes, wanted: str, runs: Sequence[int]) -> bytes:
    """Play these runs in a worker and return their pickled trace, or error, for `received`."""
    import cloudpickle  # noqa: PLC0415  # quick start

    try:
        if versions() != wanted:
            raise GiroError(
                f"the worker on {platform.node()} has {versions()}, this process has {wanted}: "
                "install the same on every machine"
            )
        content: Work = pickle.loads(work)
        warm_up(content)
        return bytes(cloudpickle.dumps(play_chunk(content, runs)))
    except Exception as error:
        error.add_note(f"In a worker: {traceback.format_exc()}")
        try:
            pickled = bytes(cloudpickle.dumps(error))
            pickle.loads(pickled)
        except Exception:  # not every error can be sent
            pickled = pickle.dumps(GiroError(f"{type(error).__name__}: {error}"))
        return pickled


def received(answer: bytes) -> Trace:
    """Return the trace that a worker sent, or raise its error."""
    content = pickle.loads(answer)
    if isinstance(content, Trace):
        return content
    raise content


def versions() -> str:
    """Return the versions that determine the numbers. All workers must have the same."""
    return f"giro {__version__} and NumPy {np.__version__}"
