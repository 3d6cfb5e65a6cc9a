"""Runs in chunks: what one worker is asked to play, and how much at a time."""

import math
import pickle
import platform
import time
import traceback
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from giro.errors import GiroError
from giro.policy import Policy
from giro.problem import Problem
from giro.simulation.play import is_compiled, play_run
from giro.simulation.trace import Setting, Trace, merge
from giro.version import __version__

_SECONDS = 2.0  # a chunk takes about as long: much more than sending it, little to lose
_SECONDS_PER_WORKER = 0.02  # longer with many workers: some 50 chunks a second can be sent out
_PER_WORKER = 4  # chunks that each worker still has before it, so that all end together
_SMALLEST = 1 / 20  # of a full chunk, at the end


class Work(NamedTuple):
    """What to play, besides the numbers of the runs.

    Objects and not their text, because the text of a user's function does not say all about it.
    """

    policy: Policy
    problem: Problem
    setting: Setting


def timed_run(work: Work, run: int) -> Trace:
    """Return what happened in one run, with its computing time."""
    began = time.perf_counter()
    setting = work.setting
    record = play_run(work.policy, work.problem, setting.checkpoints, seed=setting.seed, run=run)
    return Trace.from_record(setting, run, record, time.perf_counter() - began)


def warm_up(work: Work) -> None:
    """Play one round, so that compiling is not counted as computing time."""
    if is_compiled(work.policy, work.problem):
        play_run(work.policy, work.problem, np.array([1]), seed=0, run=0)


def versions() -> str:
    """Return the versions that decide the numbers: they must be the same in all workers."""
    return f"giro {__version__} and NumPy {np.__version__}"


def play_chunk(work: Work, runs: Sequence[int]) -> Trace:
    """Return what happened in these runs, played one after the other."""
    return merge([timed_run(work, run) for run in runs])


def send(work: Work) -> tuple[bytes, str]:
    """Return what a worker must be given: the work, functions of `__main__` included, and versions.

    With other versions than here it would give other numbers, or not understand the work.
    """
    import cloudpickle  # noqa: PLC0415  # quick start

    return cloudpickle.dumps(work), versions()


def play_sent(work: bytes, wanted: str, runs: Sequence[int]) -> bytes:
    """Return what happened in these runs, for `received`; called in a worker, raises nothing."""
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
    """Return the trace that a worker has sent, or raise its error."""
    content = pickle.loads(answer)
    if isinstance(content, Trace):
        return content
    raise content


class Chunks:
    """Cuts runs into chunks of about two seconds, judging by the runs that have ended.

    >>> [len(chunk) for chunk in Chunks(range(5), workers=1)]
    [1, 1, 1, 1, 1]
    """

    def __init__(self, runs: Sequence[int], *, workers: int, seconds: float | None = None) -> None:
        """Begin with chunks of one run, as nothing is known about their length.

        `seconds` 0 leaves it at that.
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
        """Return the next chunk, first of all one that was given back; nothing after the last."""
        if self._again:
            return self._again.pop()
        begin = self._begin
        fair = (len(self._runs) - begin) / (_PER_WORKER * self.workers)
        self._begin += math.ceil(min(self._size, max(fair, self._size * _SMALLEST)))
        return list(self._runs[begin : self._begin])

    def give_back(self, chunk: list[int]) -> None:
        """Have a chunk taken again, which nobody has played."""
        self._again.append(chunk)

    @property
    def left(self) -> int:
        """The number of runs that nobody has taken."""
        return max(0, len(self._runs) - self._begin) + sum(map(len, self._again))

    def adapt(self, ended: Trace) -> None:
        """Make the chunks still to come as long as these runs say."""
        self._size = max(1, int(self._seconds / max(float(ended.seconds.mean()), 1e-9)))
