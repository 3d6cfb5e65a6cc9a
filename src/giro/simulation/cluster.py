"""A cluster behind joblib: chunks go out, traces come back, what was lost is sent again."""

import itertools
import socket
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from joblib import Parallel, delayed

from giro.errors import GiroError
from giro.simulation.chunks import Chunks, Work, play_chunk, versions
from giro.simulation.engines import Engine
from giro.simulation.trace import Trace

PATIENCE = 30.0  # seconds until a busy cluster has answered; where nobody listens it takes none
_ATTEMPTS = 3  # without a single chunk that ends
_BATCH = 4  # chunks per worker sent together, where results do not come one by one


class Backend(NamedTuple):
    """What joblib must know about a cluster."""

    make: Callable[[], Any]  # a new backend of joblib
    workers: int
    streams: bool  # results come one by one, as the chunks end
    lost: tuple[type[Exception], ...]  # raised when workers, not the runs, are the trouble


class Cluster(Engine):
    """The workers of a Dask or Ray cluster, here or elsewhere."""

    def __init__(self, backend: Backend) -> None:
        """Use a cluster that is there."""
        self._backend = backend

    def finished(self, work: Work, runs: Sequence[int]) -> Generator[Trace, None, None]:
        """Yield a trace for each chunk; runs that were lost with a worker are played again.

        Dask and Ray send a chunk again themselves when its worker dies. What they give up is
        sent out anew here, until nothing comes back any more.
        """
        missing, failures = dict.fromkeys(runs), 0
        while missing:
            try:
                for trace in self._attempt(work, list(missing)):
                    for run in trace.runs.tolist():
                        missing.pop(run, None)
                    failures = 0
                    yield trace
            except self._backend.lost as error:
                failures += 1
                if failures == _ATTEMPTS:
                    raise GiroError(_given_up(work, len(missing), error)) from error
            except ImportError as error:
                raise GiroError(_cannot_import(error)) from error

    def _attempt(self, work: Work, runs: Sequence[int]) -> Iterator[Trace]:
        chunks = Chunks(runs, workers=self._backend.workers)
        tasks = (delayed(play_chunk)(work, versions(), chunk) for chunk in chunks)
        for trace in self._one_by_one(tasks) if self._backend.streams else self._batches(tasks):
            chunks.adapt(trace)
            yield trace

    def _one_by_one(self, tasks: Iterator[Any]) -> Iterator[Trace]:
        results = self._parallel("generator_unordered")(tasks)
        try:
            for trace in results:  # noqa: UP028  # "yield from" would close them before we do
                yield trace
        finally:
            _close(results)

    def _batches(self, tasks: Iterator[Any]) -> Iterator[Trace]:
        with self._parallel("list") as parallel:
            while batch := list(itertools.islice(tasks, _BATCH * self._backend.workers)):
                yield from parallel(batch)

    def _parallel(self, return_as: str) -> Any:
        return Parallel(
            n_jobs=self._backend.workers,
            backend=self._backend.make(),
            batch_size=1,  # a chunk is a batch already
            return_as=return_as,
        )


def reach(address: str) -> None:
    """Raise OSError or ValueError if nobody listens at an address such as tcp://host:8786.

    Dask and Ray would try for longer, and leave threads behind.
    """
    url = urlsplit(address if "://" in address else f"//{address}")
    if url.hostname is None or url.port is None:
        raise ValueError("an address has the form host:port or tcp://host:port")
    socket.create_connection((url.hostname, url.port), PATIENCE).close()


def _close(results: Generator[Trace, None, None]) -> None:
    """Drop what is under way without joblib's warning that it was computed in vain."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*tasks (have been|which were)", module="joblib")
        results.close()


def _given_up(work: Work, missing: int, error: Exception) -> str:
    reason = " ".join(str(error).split()) or type(error).__name__
    return (
        f"{missing} runs of {work.setting.policy} did not come back from the cluster, "
        f"though they were sent {_ATTEMPTS} times: {reason}"
    )


def _cannot_import(error: ImportError) -> str:
    return (
        f"a worker cannot load what it should play ({error}): install giro, and the module "
        "of your policy or problem, on every machine"
    )
