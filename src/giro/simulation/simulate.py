"""Many runs of one policy on one problem, side by side."""

import operator
from collections.abc import Callable

from giro.errors import BadParameter
from giro.policy import Policy
from giro.problem import Problem
from giro.simulation.checkpoints import Spacing
from giro.simulation.chunks import Work
from giro.simulation.engines import EngineName, open_engine
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
    engine: EngineName = "threads",
    address: str | None = None,
) -> Trace:
    """Return what happened when a policy met `runs` instances of a problem.

    Policy and problem are objects or their text. Run r draws from streams of its own, made from
    `seed` and r: results do not depend on `jobs`, the number of threads (default: all cores), and
    in run r every policy meets the same instance. Curves are kept at about `points` checkpoints,
    `spacing` "even" or "log". `progress` is called with the number of runs that have just ended.
    `engine` "dask" or "ray" plays the runs on the cluster at `address`, or on a local one of
    `jobs` processes; a script that starts a local one does so below `if __name__ == "__main__"`.

    >>> trace = simulate("greedy", "bernoulli:means=[0.5]", rounds=10, runs=3, seed=1)
    >>> trace.regret[:, -1].tolist()
    [0.0, 0.0, 0.0]
    """
    policy, problem, count = Policy.parse(policy), Problem.parse(problem), run_count(runs)
    setting = make_setting(
        policy, problem, rounds=rounds, seed=seed, points=points, spacing=spacing
    )
    traces = []
    with open_engine(engine, jobs=jobs, address=address) as player:
        for trace in player.finished(Work(policy, problem, setting), range(count)):
            traces.append(trace)
            if progress is not None:
                progress(trace.runs.size)
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
