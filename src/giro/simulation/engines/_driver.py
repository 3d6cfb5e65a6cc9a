"""What all engines share: chunks go out, traces come back as they end, the lost are sent again."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, Protocol

from giro.errors import GiroError, MissingExtra
from giro.simulation.chunks import Chunks, Work, play_sent, received, send
from giro.simulation.trace import Trace

_ATTEMPTS = 3  # to have a chunk played while no other one ends
_AHEAD = 4  # chunks per worker that are under way or wait for it
_LOOKS = 5.0  # seconds after which it is asked whether anything can still come


class Engine(ABC):
    """Plays runs side by side. Which engine it is changes the time, never the numbers."""

    @abstractmethod
    def finished(self, work: Work, runs: Sequence[int]) -> Generator[Trace, None, None]:
        """Yield traces of one or more runs as they end, in no particular order.

        Closing the iterator (or Ctrl-C) drops the runs not yet begun.
        """


class Future(Protocol):
    """A result to come, as those of concurrent.futures and of Dask are."""

    def add_done_callback(self, fn: Callable[[Any], object], /) -> object:
        """Call a function with this future when it has ended, however it did."""

    def result(self) -> Any:
        """Return the result or raise the error."""


class Crew(NamedTuple):
    """Those who play chunks."""

    size: int
    submit: Callable[[list[int]], Future]
    drop: Callable[[list[Any]], object]  # futures, begun or not
    lost: tuple[type[Exception], ...] = ()  # raised when the crew, not the runs, is the trouble
    read: Callable[[Any], Trace] = lambda trace: trace  # what has come back
    check: Callable[[], object] = lambda: None  # raises if nothing can come back any more


class Cluster(Engine):
    """Workers in other processes, here or elsewhere."""

    def __init__(
        self,
        *,
        workers: Callable[[], int],
        submit: Callable[..., Future],
        drop: Callable[[list[Any]], object],
        lost: tuple[type[Exception], ...],
        check: Callable[[], object] = lambda: None,
    ) -> None:
        """Use the workers that there are, by functions of the cluster's library.

        `submit` is given a function and its arguments; the rest is as in `Crew`.
        """
        self._workers, self._submit, self._drop = workers, submit, drop
        self._lost, self._check = lost, check

    def finished(self, work: Work, runs: Sequence[int]) -> Generator[Trace, None, None]:
        """Yield a trace for each chunk; runs that were lost with a worker are played again."""
        sent = send(work)
        crew = Crew(
            size=self._workers(),
            submit=lambda chunk: self._submit(play_sent, *sent, chunk),
            drop=self._drop,
            lost=self._lost,
            read=received,
            check=self._check,
        )
        try:
            yield from drive(crew, Chunks(runs, workers=crew.size), work.setting.policy)
        except MissingExtra:
            raise
        except ImportError as error:
            raise GiroError(_cannot_import(error)) from error


def drive(crew: Crew, chunks: Chunks, policy: str) -> Generator[Trace, None, None]:
    """Yield the traces of chunks as they end, with few under way, so that memory stays small.

    A chunk that was lost is sent again, until it was lost three times while no other one ended.
    """
    desk = _Desk(crew, chunks)
    try:
        while desk.send():
            try:
                yield desk.fetch()
            except crew.lost as error:
                if desk.is_hopeless:
                    raise GiroError(_given_up(desk.missing, policy, error)) from error
    finally:
        crew.drop(list(desk.under_way))


class _Desk:
    """Keeps count of who plays what."""

    def __init__(self, crew: Crew, chunks: Chunks) -> None:
        self._crew, self._chunks = crew, chunks
        self._ended: SimpleQueue[Future] = SimpleQueue()
        self._losses: Counter[int] = Counter()  # by first run, since a chunk has ended
        self.under_way: dict[Future, list[int]] = {}

    def send(self) -> bool:
        """Give everybody enough to do; return whether somebody has."""
        while len(self.under_way) < _AHEAD * self._crew.size and (chunk := self._chunks.take()):
            self._crew.check()
            future = self._crew.submit(chunk)
            self.under_way[future] = chunk
            future.add_done_callback(self._ended.put)
        return bool(self.under_way)

    def fetch(self) -> Trace:
        """Wait for the next chunk to end; raise what was raised there."""
        future = self._next()
        chunk = self.under_way.pop(future)
        try:
            trace = self._crew.read(future.result())
        except self._crew.lost:
            self._losses[chunk[0]] += 1
            self._chunks.give_back(chunk)
            raise
        self._losses.clear()
        self._chunks.adapt(trace)
        return trace

    def _next(self) -> Future:
        while True:
            try:
                return self._ended.get(timeout=_LOOKS)
            except Empty:
                self._crew.check()

    @property
    def is_hopeless(self) -> bool:
        return max(self._losses.values()) >= _ATTEMPTS

    @property
    def missing(self) -> int:
        return self._chunks.left + sum(map(len, self.under_way.values()))


def _given_up(missing: int, policy: str, error: Exception) -> str:
    reason = " ".join(str(error).split()) or type(error).__name__
    return (
        f"{missing} runs of {policy} did not come back from the workers, "
        f"though they were sent {_ATTEMPTS} times: {reason}"
    )


def _cannot_import(error: ImportError) -> str:
    return (
        f"a worker cannot load what it should play ({error}): install giro, and the module "
        "of your policy or problem, on every machine"
    )
