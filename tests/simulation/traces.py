"""Small traces with numbers that can be worked out by hand."""

from collections.abc import Sequence

import numpy as np

from giro.simulation.trace import Setting, Trace


def small_trace(
    regret: Sequence[Sequence[float]] = ((1.0, 2.0), (3.0, 6.0)),
    *,
    runs: Sequence[int] | None = None,
    policy: str = "ucb1",
    seed: int = 1,
    problem: str = "bernoulli:means=[0.7,0.4]",
) -> Trace:
    """Return a trace of 20 rounds with checkpoints 18 and 20; pulls of the best arm 10 and 11."""
    setting = Setting(policy, problem, rounds=20, seed=seed, points=1)
    n = len(regret)
    return Trace(
        setting,
        np.arange(n) if runs is None else np.array(runs),
        np.array(regret, float),
        np.array([[9.0, 10.0]] * n),
        np.array([[10, 11]] * n),
        np.array([[11, 9]] * n),
        np.full(n, 0.5),
    )
