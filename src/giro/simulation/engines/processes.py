"""Processes of this machine, for policies and problems that do not compile.

Plain Python holds the interpreter lock, so threads would wait for each other. The processes are
plain interpreters that read calls from a pipe. Those of multiprocessing would first import the
user's script, which would have to be written for that, and all of them end when one does.
"""

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from giro.simulation.engines import Cluster, Crew

_BEGIN = (
    "import pickle, sys; sys.path = pickle.load(sys.stdin.buffer); "
    "from giro.simulation.engines.processes import serve; serve()"
)
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class _Died(Exception):
    """A process ended before its call did."""


@contextmanager
def processes(jobs: int) -> Iterator[Cluster]:
    """Open `jobs` processes, which start with the first runs and end on closing."""
    players = _Players(jobs)
    try:
        with ThreadPoolExecutor(jobs) as pool:
            submit = lambda *call: pool.submit(players.call, *call)  # noqa: E731
            yield Cluster(Crew(lambda: jobs, submit, players.drop, lost=(_Died,)))
    finally:
        for process in players.started:
            process.communicate()  # closes the pipe, which ends the process


class _Players:
    """A process for each thread that calls functions in it."""

    def __init__(self, jobs: int) -> None:
        self.started: list[subprocess.Popen[bytes]] = []
        self._mine, self._lock, self._dropped = threading.local(), threading.Lock(), False
        threads = str(max(1, (os.cpu_count() or 1) // jobs))
        self._environment = dict.fromkeys(_THREADS, threads) | os.environ

    def call(self, *call: Any) -> Any:
        """Call a function with arguments in another process, and return its result."""
        process = getattr(self._mine, "process", None) or self._start()
        try:
            _write(process.stdin, call)
            return pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            self._mine.process = None
            process.kill()
            raise _Died(f"a process ended with status {process.wait()}") from None

    def _start(self) -> Any:
        with self._lock:
            if self._dropped:
                raise _Died("its runs were dropped")
            self._mine.process = process = subprocess.Popen(
                [sys.executable, "-c", _BEGIN],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=self._environment,
                start_new_session=True,  # Ctrl-C reaches only this process, which decides
            )
            self.started.append(process)
        _write(process.stdin, sys.path)
        return process

    def drop(self, futures: list[Any]) -> None:
        """Drop calls and, if some are running, end the processes: no calls will follow."""
        waiting = [future for future in futures if not future.cancel()]
        with self._lock:
            self._dropped = bool(futures)
            for process in self.started if waiting else ():
                process.kill()


def serve() -> None:
    """Answer calls until there are no more. Output that a policy prints goes to standard error."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    while True:
        try:
            function, *arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        _write(answers, function(*arguments))


def _write(stream: Any, content: Any) -> None:
    pickle.dump(content, stream)
    stream.flush()
