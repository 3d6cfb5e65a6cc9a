"""Processes of this machine, for what does not compile.

Plain Python holds the interpreter lock, so threads would wait for each other. The processes are
plain interpreters that read calls from a pipe. Those of multiprocessing would import the user's
script first, which then must be written for it, and all end when one does.
"""

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from giro.simulation.engines._driver import Cluster

_BEGIN = (
    "import pickle, sys; sys.path = pickle.load(sys.stdin.buffer); "
    "from giro.simulation.engines.processes import serve; serve()"
)
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class _Died(Exception):
    """A process has ended before its call."""


@contextmanager
def processes(jobs: int) -> Iterator[Cluster]:
    """Give as many processes, started with the first runs and ended when this is closed."""
    players = _Players(jobs)
    try:
        with ThreadPoolExecutor(jobs) as pool:
            yield Cluster(
                workers=lambda: jobs,
                submit=lambda *call: pool.submit(players.call, *call),
                drop=players.drop,
                lost=(_Died,),
            )
    finally:
        players.end()


class _Players:
    """A process for each thread that calls a function in it."""

    def __init__(self, jobs: int) -> None:
        self._mine = threading.local()
        self._lock, self._dropped = threading.Lock(), False
        self._started: list[subprocess.Popen[bytes]] = []
        threads = str(max(1, (os.cpu_count() or 1) // jobs))
        self._environment = dict.fromkeys(_THREADS, threads) | os.environ

    def call(self, function: Callable[..., bytes], *arguments: Any) -> bytes:
        """Return what a function of an installed module returns in another process."""
        process = getattr(self._mine, "process", None) or self._start()
        try:
            _write(process.stdin, (function, arguments))
            answer: bytes = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            self._mine.process = None
            process.kill()
            raise _Died(f"a process ended with status {process.wait()}") from None
        return answer

    def _start(self) -> Any:
        command = [sys.executable, "-c", _BEGIN]
        with self._lock:
            if self._dropped:
                raise _Died("nobody waits for it")
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=self._environment,
                start_new_session=True,  # Ctrl-C is for this process, which then decides
            )
            self._started.append(process)
        self._mine.process = process
        _write(process.stdin, sys.path)
        return process

    def drop(self, futures: list[Future[bytes]]) -> None:
        """Drop calls, for good: end the processes if there are any."""
        if not futures:
            return
        for future in futures:
            future.cancel()
        with self._lock:
            self._dropped = True
            for process in self._started:
                process.kill()

    def end(self) -> None:
        """Let the processes end, which have nothing more to do."""
        for process in self._started:
            process.communicate()


def serve() -> None:
    """Answer calls until there are no more; what a policy prints goes to standard error."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    while True:
        try:
            function, arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        _write(answers, function(*arguments))


def _write(stream: Any, content: Any) -> None:
    pickle.dump(content, stream)
    stream.flush()
