"""Many runs of one policy on one problem, side by side in threads."""

import operator
import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import numpy as np

from giro.errors import BadParameter
from giro.policy import Policy
from giro.problem import Problem
from giro.simulation.checkpoints import Spacing
from giro.simulation.play import is_compiled, play_run
from giro.simulation.trace import Setting, Trace, merge


def simulate(
    policy: Policy | str,
    problem: Problem | str,
    *,
    rounds: int,
    runs: int = 100,
    seed: int = 0,
    jobs: int | None = None,
    points: int = 200,
    spacing: Spacing = "even",
    progress: Callable[[int], None] | None = None,
) -> Trace:
    """Return what happened when a policy met `runs` instances of a problem.

    Policy and problem are objects or their text. Run r draws from streams of its own, made from
    `seed` and r: results do not depend on `jobs`, the number of threads (default: all cores), and
    in run r every policy meets the same instance. Curves are kept at about `points` checkpoints,
    `spacing` "even" or "log". `progress` is called with the number of runs that have just ended.

    >>> trace = simulate("greedy", "bernoulli:means=[0.5]", rounds=10, runs=3, seed=1)
    >>> trace.regret[:, -1].tolist()
    [0.0, 0.0, 0.0]
    """
    setting = make_setting(
        policy, problem, rounds=rounds, seed=seed, points=points, spacing=spacing
    )
    traces = []
    for trace in finished_runs(policy, problem, setting, runs=range(run_count(runs)), jobs=jobs):
        traces.append(trace)
        if progress is not None:
            progress(1)
    return merge(traces)


def make_setting(
    policy: Policy | str,
    problem: Problem | str,
    *,
    rounds: int,
    seed: int,
    points: int = 200,
    spacing: Spacing = "even",
) -> Setting:
    """Return the setting of a simulation, checked."""
    setting = Setting(
        Policy.parse(policy).text,
        Problem.parse(problem).text,
        _whole("rounds", rounds),
        _whole("seed", seed),
        _whole("points", points),
        spacing,
    )
    if setting.seed < 0:
        raise BadParameter(f"a seed is a whole number >= 0, got {seed}")
    _ = setting.checkpoints
    return setting


def run_count(runs: int) -> int:
    """Return the number of runs, checked."""
    if _whole("runs", runs) < 1:
        raise BadParameter(f"a simulation needs at least one run, got runs={runs}")
    return _whole("runs", runs)


def _whole(name: str, value: int) -> int:
    """Return `value` as a plain integer; integers of NumPy are welcome."""
    try:
        return operator.index(value)
    except TypeError:
        raise BadParameter(f"{name} is a whole number, got {value!r}") from None


def finished_runs(
    policy: Policy | str,
    problem: Problem | str,
    setting: Setting,
    *,
    runs: Iterable[int],
    jobs: int | None = None,
) -> Iterator[Trace]:
    """Yield the trace of each run as it ends, in no particular order.

    Closing the iterator (or Ctrl-C) drops the runs not yet begun and waits for those under way.
    """
    policy, problem = Policy.parse(policy), Problem.parse(problem)
    n_jobs = resolve_jobs(jobs)
    _compile(policy, problem)

    def task(run: int) -> Trace:
        began = time.perf_counter()
        record = play_run(policy, problem, setting.checkpoints, seed=setting.seed, run=run)
        return Trace.from_record(setting, run, record, time.perf_counter() - began)

    with ThreadPoolExecutor(n_jobs) as pool:
        try:
            yield from _as_they_end(pool, task, iter(runs), ahead=4 * n_jobs)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _as_they_end(
    pool: ThreadPoolExecutor, task: Callable[[int], Trace], runs: Iterator[int], *, ahead: int
) -> Iterator[Trace]:
    """Yield results with at most `ahead` tasks under way or waiting, so that memory stays small."""
    waiting: set[Future[Trace]] = set()
    for run in runs:
        waiting.add(pool.submit(task, run))
        if len(waiting) >= ahead:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    while waiting:
        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        yield from (future.result() for future in done)


def _compile(policy: Policy, problem: Problem) -> None:
    """Play one round, so that compiling is not counted as computing time."""
    if is_compiled(policy, problem):
        play_run(policy, problem, np.array([1]), seed=0, run=0)


def resolve_jobs(jobs: int | None) -> int:
    """Return the number of threads: as asked for, or one per core."""
    if jobs is not None and jobs < 1:
        raise BadParameter(f"jobs is at least 1, got {jobs}")
    if jobs is not None:
        return jobs
    allowed = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(allowed(0)) if allowed else os.cpu_count() or 1
