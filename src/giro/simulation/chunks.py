"""Runs in chunks: what one worker is asked to play, and how much at a time."""

import math
import platform
import time
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


def play_chunk(work: Work, wanted: str, runs: Sequence[int]) -> Trace:
    """Return what happened in these runs, played one after the other; called in a worker.

    `wanted` are the versions where the runs are asked for: others might give other numbers.
    """
    if versions() != wanted:
        raise GiroError(
            f"the worker on {platform.node()} has {versions()}, this process has {wanted}: "
            "install the same on every machine"
        )
    warm_up(work)
    return merge([timed_run(work, run) for run in runs])


class Chunks:
    """Cuts runs into chunks of about two seconds, judging by the runs that have ended.

    >>> [len(chunk) for chunk in Chunks(range(5), workers=1)]
    [1, 1, 1, 1, 1]
    """

    def __init__(self, runs: Sequence[int], *, workers: int) -> None:
        """Begin with chunks of one run, as nothing is known about their length."""
        self._runs, self._workers = runs, workers
        self._seconds = max(_SECONDS, workers * _SECONDS_PER_WORKER)
        self._size = 1

    def __iter__(self) -> Iterator[list[int]]:
        """Yield the chunks, smaller ones towards the end."""
        begin = 0
        while begin < len(self._runs):
            fair = (len(self._runs) - begin) / (_PER_WORKER * self._workers)
            end = begin + math.ceil(min(self._size, max(fair, self._size * _SMALLEST)))
            yield list(self._runs[begin:end])
            begin = end

    def adapt(self, ended: Trace) -> None:
        """Make the chunks still to come as long as these runs say."""
        self._size = max(1, int(self._seconds / max(float(ended.seconds.mean()), 1e-9)))
