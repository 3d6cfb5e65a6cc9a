"""Runs played by kernels on a device, all of them round by round together."""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from giro.compiling import kernel
from giro.kernels.cuda.source import padded, record_of, source_of
from giro.problems.classification import Classification
from giro.seeds import stream
from giro.simulation.engines._cuda_plans import Plan, Step, plan_for
from giro.simulation.play import Work
from giro.simulation.trace import Trace

_AT_A_TIME = 500  # rounds between two reports
_SEED = (1 << 32) - 1


class Device(Protocol):
    """Where kernels run: a GPU, or in tests something that does as if."""

    def compile(self, source: str) -> Any:
        """Return the kernels of a source."""

    def put(self, array: np.ndarray) -> Any:
        """Return a copy on the device."""

    def zeros(self, shape: tuple[int, ...], kind: Any) -> Any:
        """Return zeros on the device."""

    def repeated(self, array: np.ndarray, n: int) -> Any:
        """Return n copies on the device."""

    def address(self, array: Any) -> int:
        """Return where an array of the device begins."""

    def get(self, array: Any) -> np.ndarray:
        """Return a copy of an array of the device."""

    def shared(self, kernels: Any, function: str) -> int:
        """Return how many bytes of shared memory a block needs, and allow for them."""

    def launch(
        self, kernels: Any, step: Step, blocks: int, shared: int, game: Any, *rounds: int
    ) -> None:
        """Start a kernel after those that were started before."""

    def wait(self) -> None:
        """Wait for all kernels."""


class Rows(NamedTuple):
    """Contexts and labels on the device, for all runs of a problem."""

    contexts: Any  # [row, DP] single precision, with a constant 1
    labels: Any  # [row]


def put_rows(device: Device, problem: Classification) -> Rows:
    """Return the rows of a problem on the device, and their labels here."""
    contexts, labels = problem.rows.contexts, problem.rows.labels
    n, d = contexts.shape
    padded_rows = np.zeros((n, padded(d + 1)), np.float32)
    padded_rows[:, :d] = contexts
    padded_rows[:, d] = 1.0
    return Rows(device.put(padded_rows), device.put(labels.astype(np.int32)))


@kernel
def visits(n_rows: int, uniforms: np.ndarray) -> np.ndarray:
    """Return the row of each round, as the problem draws them: see its `reveal`."""
    order, rows = np.arange(n_rows), np.empty(uniforms.size, np.int32)
    for t in range(uniforms.size):
        i = t % n_rows
        j = i + int(uniforms[t] * (n_rows - i))
        order[i], order[j] = order[j], order[i]
        rows[t] = order[i]
    return rows


def bytes_per_run(plan: Plan, rounds: int) -> int:
    """Return how much memory of the device a run takes, beside the rows that all share."""
    sizes = [np.prod(shape) * np.dtype(kind).itemsize for shape, kind in plan.arrays.values()]
    return int(sum(sizes)) + 4 * rounds


class Table(NamedTuple):
    """Runs under way."""

    plan: Plan
    kernels: list[Any]
    shared: list[int]
    arrays: dict[str, Any]
    order: np.ndarray  # [run, round]
    game: Any


def lay(
    device: Device, work: Work, runs: Sequence[int], rows: Rows, *, rounds: int | None = None
) -> Table:
    """Return runs before their first round. `rounds` are those to be played, if not all."""
    planned = work.setting.rounds
    plan = plan_for(work.policy, work.problem, planned)
    problem: Any = work.problem
    n_rows, played = problem.rows.labels.size, rounds or planned
    seed = work.setting.seed
    order = np.array([visits(n_rows, stream(seed, r, 0).random(played)) for r in runs])
    if played < planned:
        order = np.pad(order, ((0, 0), (0, planned - played)))
    arrays = _arrays(device, plan, seed, runs)
    arrays |= {"contexts": rows.contexts, "labels": rows.labels, "order": device.put(order)}
    arrays["numbers"] = device.put(np.array(runs, np.int32))
    numbers = {"replicas": 1} | plan.numbers
    numbers |= {"runs": len(runs), "rounds": planned}
    numbers |= {"reach": max(1, problem.n_arms - 1) if problem.graded else 1}
    numbers |= {"seed_low": seed & _SEED, "seed_high": seed >> 32 & _SEED}
    addresses = {name: device.address(array) for name, array in arrays.items()}
    kernels = [device.compile(source_of(step.files, plan.constants)) for step in plan.steps]
    shared = [
        device.shared(compiled, step.function) if step.has_shared else 0
        for compiled, step in zip(kernels, plan.steps, strict=True)
    ]
    game = device.put(record_of(addresses | numbers))
    return Table(plan, kernels, shared, arrays, order, game)


def _arrays(device: Device, plan: Plan, seed: int, runs: Sequence[int]) -> dict[str, Any]:
    """Return the arrays of a plan as they begin."""
    begins = [plan.start(seed, run) for run in runs]
    arrays = {}
    for name, (shape, kind) in plan.arrays.items():
        first = begins[0].get(name)
        if first is not None and all(begin[name] is first for begin in begins):
            arrays[name] = device.repeated(first.astype(kind), len(runs))
        elif first is not None:
            arrays[name] = device.put(np.stack([begin[name] for begin in begins]).astype(kind))
        else:
            arrays[name] = device.zeros((len(runs), *shape), kind)
    return arrays


def play_rounds(device: Device, table: Table, first: int, last: int) -> None:
    """Play the rounds from `first` to before `last`."""
    plan, n_runs = table.plan, table.order.shape[0]
    started = list(zip(plan.steps, table.kernels, table.shared, strict=True))
    if plan.whole:
        step, kernels, shared = started[0]
        device.launch(kernels, step, n_runs, shared, table.game, first, last)
        return
    for t in range(first, last):
        for step, kernels, shared in started:
            blocks = n_runs * step.blocks_per_run
            device.launch(kernels, step, blocks, shared, table.game, t)


def play_runs(
    device: Device,
    work: Work,
    runs: Sequence[int],
    rows: Rows,
    on_rounds: Callable[[int], None] = lambda played: None,
) -> Trace:
    """Return the traces of these runs. `on_rounds` is told how many rounds are played."""
    began = time.perf_counter()
    table, rounds = lay(device, work, runs, rows), work.setting.rounds
    for first in range(0, rounds, _AT_A_TIME):
        last = min(first + _AT_A_TIME, rounds)
        play_rounds(device, table, first, last)
        device.wait()
        on_rounds(last)
    arms = device.get(table.arrays["arms"])
    seconds = (time.perf_counter() - began) / len(runs)
    return trace_of(work, runs, arms, table.order, seconds)


def trace_of(
    work: Work,
    runs: Sequence[int],
    arms: np.ndarray,
    order: np.ndarray,
    seconds: float,
    checkpoints: np.ndarray | None = None,
) -> Trace:
    """Return the trace of runs in which these arms [run, round] were pulled at these rows."""
    problem: Any = work.problem
    points = (work.setting.checkpoints if checkpoints is None else checkpoints) - 1
    labels = problem.rows.labels[order]
    reach = max(1, problem.n_arms - 1) if problem.graded else 1
    means = np.maximum(0.0, 1.0 - np.abs(arms.astype(np.int64) - labels) / reach)
    sums = means.cumsum(axis=1)[:, points]
    best = (means == 1.0).cumsum(axis=1)[:, points]
    pulls = [np.bincount(row, minlength=problem.n_arms) for row in arms]
    numbers = np.array(runs)
    regret = (1.0 - means).cumsum(axis=1)[:, points]
    times = np.full(numbers.size, seconds)
    return Trace(work.setting, numbers, regret, sums, best, np.array(pulls), times)
