"""What all engines share: chunks go out, traces come back as they end, the lost are sent again."""

import socket
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from giro.errors import GiroError, MissingExtra
from giro.simulation.chunks import Chunks, Work, play_sent, received, send
from giro.simulation.trace import Trace

_ATTEMPTS = 3  # to have a chunk played while no other one ends
_AHEAD = 4  # chunks per worker that are under way or wait for it
_LOOKS = 5.0  # seconds after which it is asked whether anything can still come
PATIENCE = 30.0  # seconds until a busy cluster has answered; where nobody listens it takes none


def reach(address: str) -> None:
    """Raise OSError or ValueError if nobody listens at an address such as tcp://host:8786.

    Dask and Ray would try for longer, and leave threads behind.
    """
    url = urlsplit(address if "://" in address else f"//{address}")
    if url.hostname is None or url.port is None:
        raise ValueError("an address has the form host:port or tcp://host:port")
    socket.create_connection((url.hostname, url.port), PATIENCE).close()


class Engine(ABC):
    """Plays runs side by side. Which engine it is changes the time, never the numbers."""

    @abstractmethod
    def finished(self, work: Work, runs: Sequence[int]) -> Generator[Trace, None, None]:
        """Yield traces of one or more runs as they end, in no particular order.

        Closing the iterator (or Ctrl-C) drops the runs not yet begun.
        """


class Crew(NamedTuple):
    """Those who play chunks; a future is one of concurrent.futures, of Dask, or alike."""

    size: Callable[[], int]
    submit: Callable[..., Any]  # of a function and its arguments; returns a future
    drop: Callable[[list[Any]], object]  # futures, begun or not
    lost: tuple[type[Exception], ...] = ()  # raised when the crew, not the runs, is the trouble
    check: Callable[[], object] = lambda: None  # raises if nothing can come back any more


class Cluster(Engine):
    """A crew in other processes, here or elsewhere."""

    def __init__(self, crew: Crew) -> None:
        """Use the workers that there are."""
        self._crew = crew

    def finished(self, work: Work, runs: Sequence[int]) -> Generator[Trace, None, None]:
        """Yield a trace for each chunk; runs that were lost with a worker are played again."""
        sent, chunks = send(work), Chunks(runs, workers=self._crew.size())
        try:
            yield from drive(self._crew, chunks, work, play_sent, *sent, read=received)
        except MissingExtra:
            raise
        except ImportError as error:
            raise GiroError(
                f"a worker cannot load what it should play ({error}): install giro, and the "
                "module of your policy or problem, on every machine"
            ) from error


def drive(
    crew: Crew,
    chunks: Chunks,
    work: Work,
    *call: Any,
    read: Callable[[Any], Trace] = lambda trace: trace,
) -> Generator[Trace, None, None]:
    """Yield the traces of chunks as they end, with few under way, so that memory stays small.

    `call` is a function and its arguments before the chunk, `read` makes a trace of its result. A
    chunk that was lost is sent again, until it was lost three times while no other one ended.
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
                    raise GiroError(_given_up(work, missing, error)) from error
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


def _given_up(work: Work, missing: int, error: Exception) -> str:
    reason = " ".join(str(error).split()) or type(error).__name__
    return (
        f"{missing} runs of {work.setting.policy} did not come back from the workers, "
        f"though they were sent {_ATTEMPTS} times: {reason}"
    )
