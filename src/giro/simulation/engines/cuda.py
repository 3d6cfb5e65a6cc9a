"""A GPU: many runs at once, by kernels in CUDA C (`giro.kernels.cuda`) that CuPy compiles.

Numbers are those of this engine: the same seed gives the same on the same kind of GPU, however many
runs are played at once. Instances are those of the other engines, run by run. What a policy draws
is not: its runs have the same distribution, and are kept under their own version.
"""

import functools
import sys
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from giro.errors import GiroError, needs_extra
from giro.kernels.cuda.source import padded
from giro.policy import Policy
from giro.problem import Problem
from giro.simulation.engines import Engine
from giro.simulation.engines._cuda_plans import Plan, Step, plan_for
from giro.simulation.engines._cuda_play import (
    Rows,
    bytes_per_run,
    lay,
    play_rounds,
    play_runs,
    put_rows,
    trace_of,
)
from giro.simulation.play import Record, Work
from giro.simulation.simulate import make_setting
from giro.simulation.trace import Trace

_SPARE = 0.9  # of the free memory is used
_OLDEST = 80  # compute capability times ten: tensor cores for double precision
_SECONDS = 5.0  # between two lines about progress


class Gpu:
    """The GPU that CuPy uses."""

    def __init__(self) -> None:
        """Check that there is one, and that it is new enough."""
        with needs_extra("the engine cuda", "cupy", extra="cuda"):
            import cupy  # noqa: PLC0415  # few machines have it

        self._cupy = cupy
        try:
            count = self._cupy.cuda.runtime.getDeviceCount()
            capability = int(self._cupy.cuda.Device().compute_capability) if count else 0
        except self._cupy.cuda.runtime.CUDARuntimeError as error:
            raise GiroError(f"the engine cuda found no GPU that works: {error}") from None
        if capability < _OLDEST:
            raise GiroError(
                f"the engine cuda needs a GPU of compute capability {_OLDEST / 10} or more, "
                f"got {capability / 10}"
            )

    @functools.cache  # noqa: B019  # as long as the engine
    def compile(self, source: str) -> Any:
        """Return the kernels of a source."""
        try:
            return self._cupy.RawModule(code=source, options=("-std=c++17",), backend="nvrtc")
        except self._cupy.cuda.compiler.CompileException as error:
            raise GiroError(f"CuPy cannot compile for this GPU: {error}") from error

    def put(self, array: np.ndarray) -> Any:
        """Return a copy on the GPU."""
        return self._cupy.asarray(np.ascontiguousarray(array))

    def zeros(self, shape: tuple[int, ...], kind: Any) -> Any:
        """Return zeros on the GPU."""
        return self._cupy.zeros(shape, kind)

    def repeated(self, array: np.ndarray, n: int) -> Any:
        """Return n copies on the GPU."""
        return self._cupy.ascontiguousarray(
            self._cupy.broadcast_to(self.put(array), (n, *array.shape))
        )

    def address(self, array: Any) -> int:
        """Return where an array of the GPU begins."""
        return int(array.data.ptr)

    def get(self, array: Any) -> np.ndarray:
        """Return a copy of an array of the GPU."""
        return np.asarray(self._cupy.asnumpy(array))

    def shared(self, kernels: Any, function: str) -> int:
        """Return how many bytes of shared memory a block needs, and allow for them."""
        needed = self._cupy.zeros(1, np.int32)
        kernels.get_function("needs")((1,), (1,), (needed,))
        bytes_needed = int(needed[0])
        most = self._cupy.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]
        if bytes_needed > most:
            raise GiroError(
                f"a row of this problem needs {bytes_needed} bytes of shared memory in each block, "
                f"this GPU has {most}: use another engine"
            )
        self._function(kernels, function).max_dynamic_shared_size_bytes = bytes_needed
        return bytes_needed

    def launch(
        self, kernels: Any, step: Step, blocks: int, shared: int, game: Any, *rounds: int
    ) -> None:
        """Start a kernel after those that were started before."""
        arguments = (game, *map(np.int32, rounds))
        function = self._function(kernels, step.function)
        function((blocks,), (step.threads,), arguments, shared_mem=shared)

    @functools.cache  # noqa: B019  # as long as the engine
    def _function(self, kernels: Any, name: str) -> Any:
        return kernels.get_function(name)

    def wait(self) -> None:
        """Wait for all kernels."""
        self._cupy.cuda.get_current_stream().synchronize()

    def free(self) -> int:
        """Return how many bytes are free, including those that CuPy holds without need."""
        pool = self._cupy.get_default_memory_pool()
        try:
            pool.free_all_blocks()
        except ValueError as error:
            raise GiroError(
                "CUPY_GPU_MEMORY_LIMIT is a number of bytes, as 8000000000, or a share, as 50%: "
                f"{error}"
            ) from None
        free = int(self._cupy.cuda.Device().mem_info[0])
        allowed = pool.get_limit() - pool.used_bytes()  # see CUPY_GPU_MEMORY_LIMIT
        return min(free, allowed) if pool.get_limit() else free


@contextmanager
def cuda_engine() -> Iterator["Cuda"]:
    """Give the GPU."""
    yield Cuda(Gpu())


class Cuda(Engine):
    """Plays as many runs at once as the memory of the GPU holds."""

    def __init__(self, device: Any) -> None:
        """Play on this device."""
        self._device = device
        self._problem: Problem | None = None
        self._rows: Rows | None = None

    def finished(self, work: Work, runs: Sequence[int]) -> Generator[Trace, None, None]:
        """Yield a trace for each chunk of runs."""
        plan = plan_for(work.policy, work.problem, work.setting.rounds)
        rows = self._rows_of(work.problem)
        size = self._at_once(plan, work, len(runs))
        for first in range(0, len(runs), size):
            chunk = runs[first : first + size]
            yield play_runs(self._device, work, chunk, rows, _Progress(work, len(chunk)))

    def begin(
        self,
        policy: Policy,
        problem: Problem,
        checkpoints: np.ndarray,
        *,
        seed: int,
        run: int,
        rounds: int,
    ) -> Record:
        """Return the beginning of a run, up to the last checkpoint: see `play.play_run`."""
        last = int(checkpoints[-1])
        work = Work(policy, problem, make_setting(policy, problem, rounds=rounds, seed=seed))
        table = lay(self._device, work, [run], self._rows_of(problem), rounds=last)
        play_rounds(self._device, table, 0, last)
        arms = self._device.get(table.arrays["arms"])[:, :last]
        short = Work(policy, problem, make_setting(policy, problem, rounds=last, seed=seed))
        trace = trace_of(short, [run], arms, table.order[:, :last], 0.0, checkpoints)
        curves = trace.regret[0], trace.reward[0], trace.best[0]
        return Record(checkpoints, *curves, trace.pulls[0], arms[0].astype(np.int64))

    def _rows_of(self, problem: Any) -> Rows:
        """Return the rows of the problem, which stay on the device for its next policy."""
        if self._rows is None or problem != self._problem:
            self._rows = None  # so that two sets of rows are never there at once
            self._check_memory(problem.rows.labels.size * padded(problem.n_features + 1) * 4)
            self._rows, self._problem = put_rows(self._device, problem), problem
        return self._rows

    def _at_once(self, plan: Plan, work: Work, runs: int) -> int:
        """Return how many runs the memory holds."""
        each = bytes_per_run(plan, work.setting.rounds)
        self._check_memory(each)
        free = self._device.free()
        at_once = min(runs, max(1, int(_SPARE * free / each)))
        sys.stderr.write(
            f"{_name(work, runs)}, {at_once} at once in {at_once * each / 1e9:.1f} of the GPU's "
            f"{free / 1e9:.1f} GB that are free\n"
        )
        return at_once

    def _check_memory(self, needed: int) -> None:
        free = self._device.free()
        if needed > _SPARE * free:
            raise GiroError(
                f"this needs {needed / 1e9:.1f} GB of the GPU's memory, {free / 1e9:.1f} GB are "
                "free: play fewer rounds, or use another engine"
            )


class _Progress:
    """Writes now and then how many rounds were played, if somebody looks."""

    def __init__(self, work: Work, runs: int) -> None:
        self._text = _name(work, runs)
        self._rounds, self._next = work.setting.rounds, time.monotonic() + _SECONDS

    def __call__(self, played: int) -> None:
        if time.monotonic() > self._next and played < self._rounds:
            sys.stderr.write(f"{self._text}: {played} of {self._rounds} rounds\n")
            self._next = time.monotonic() + _SECONDS


def _name(work: Work, runs: int) -> str:
    return f"{work.setting.policy} on {work.setting.problem}, {runs} runs"
