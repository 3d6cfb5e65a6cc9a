"""Small traces with numbers that can be worked out by hand, and what two traces have in common."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from simulation.notes import ONE_ARM

from giro import Policy, Problem
from giro.simulation.play import Work
from giro.simulation.simulate import make_setting
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


def numbers(trace: Trace) -> dict[str, list[Any]]:
    """Return all that does not depend on the clock."""
    names = ("runs", "regret", "reward", "best", "pulls")
    return {name: getattr(trace, name).tolist() for name in names}


def small_work(policy: Policy | None = None) -> Work:
    """Return two rounds of a policy, UCB1 unless told, on one arm."""
    policy = policy or Policy.parse("ucb1")
    setting = make_setting(policy, ONE_ARM, rounds=2, seed=5)
    return Work(policy, Problem.parse(ONE_ARM), setting)
