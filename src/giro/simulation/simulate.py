"""Many runs of one policy on one problem, side by side."""

from collections.abc import Callable

from giro.policy import Policy
from giro.problem import Problem
from giro.simulation.engines import EngineName
from giro.simulation.experiment import Experiment, run
from giro.simulation.trace import Setting, Spacing, Trace


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

    Policy and problem are objects or their text. Run r draws from its own streams, made from `seed`
    and r: results do not depend on `jobs`, the number of threads (default: all cores), and
    in run r every policy meets the same instance. Curves are kept at about `points` checkpoints,
    `spacing` "even" or "log". `progress` is called with the number of runs that have just ended.
    `engine` "dask" or "ray" plays the runs on the cluster at `address`, or on a local one of
    `jobs` processes; a script that starts a local one does so below `if __name__ == "__main__"`.

    >>> trace = simulate("greedy", "bernoulli:means=[0.5]", rounds=10, runs=3, seed=1)
    >>> trace.regret[:, -1].tolist()
    [0.0, 0.0, 0.0]
    """
    experiment = Experiment([problem], [policy], rounds, runs, seed, points, spacing)

    def on_runs(_: Setting, count: int) -> None:
        if progress is not None and count:
            progress(count)

    (trace,) = run(experiment, jobs=jobs, on_runs=on_runs, engine=engine, address=address)
    return trace
