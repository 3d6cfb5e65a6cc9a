"""Trace -> numbers with their uncertainty, alone and as records."""

import math
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.special import stdtrit

from giro.errors import BadParameter
from giro.simulation.trace import Trace, before_last_tenth

Metric: TypeAlias = Literal["regret", "reward"]  # sum over the rounds, and mean over them


class Estimate(NamedTuple):
    """A mean over runs, its standard error, and its 95 % confidence interval (Student's t)."""

    mean: float
    se: float
    low: float
    high: float

    @property
    def margin(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2


def estimate(values: np.ndarray) -> Estimate:
    """Return the mean of independent values with its uncertainty, NaN for a single value.

    >>> estimate(np.array([1.0, 2.0, 3.0])).mean
    2.0
    """
    n = values.size
    if n == 0:
        raise BadParameter("a mean needs at least one value")
    mean = float(np.mean(values))
    if n == 1:
        return Estimate(mean, math.nan, math.nan, math.nan)
    se = float(np.std(values, ddof=1)) / math.sqrt(n)
    margin = float(stdtrit(n - 1, 0.975)) * se
    return Estimate(mean, se, mean - margin, mean + margin)


def usual_metric(traces: Iterable[Trace]) -> Metric:
    """Return the metric by which such problems are usually judged.

    This is regret, unless all problems are classification. There the reward is the share of rows
    that were classified correctly, and regret is just the number of the others.
    """
    names = {trace.setting.problem.partition(":")[0] for trace in traces}
    return "reward" if names == {"classification"} else "regret"


def final_regret(trace: Trace) -> Estimate:
    """Return the expected cumulative regret at the end."""
    return estimate(trace.regret[:, -1])


def mean_reward(trace: Trace) -> Estimate:
    """Return the expected reward per round."""
    return estimate(trace.reward[:, -1] / trace.setting.rounds)


def best_share(trace: Trace) -> Estimate:
    """Return the share of pulls of a best arm in the last tenth of the rounds."""
    before = int(np.searchsorted(trace.checkpoints, before_last_tenth(trace.setting.rounds)))
    if before == trace.checkpoints.size - 1:  # a single round
        return estimate(trace.best[:, -1].astype(float))
    rounds = trace.checkpoints[-1] - trace.checkpoints[before]
    return estimate((trace.best[:, -1] - trace.best[:, before]) / rounds)


class Curve(NamedTuple):
    """Mean regret (or another quantity) after some rounds, with its 95 % interval."""

    rounds: np.ndarray  # [point]
    mean: np.ndarray  # [point]
    low: np.ndarray  # [point]
    high: np.ndarray  # [point]


def curve_of(trace: Trace, metric: Metric) -> Curve:
    """Return cumulative regret, or the reward per round so far, after each checkpoint."""
    rounds = trace.checkpoints
    values = trace.regret if metric == "regret" else trace.reward / rounds
    points = [estimate(values[:, point]) for point in range(rounds.size)]
    mean, low, high = (np.array([getattr(p, side) for p in points]) for side in Curve._fields[1:])
    return Curve(rounds, mean, low, high)


def paired_difference(first: Trace, second: Trace, *, metric: Metric = "regret") -> Estimate:
    """Return the mean of (final regret of first - of second) over runs on the same instances.

    With `metric` "reward" it is the difference of their rewards per round.
    """
    if not pairable(first, second):
        raise BadParameter("paired differences need the same problem, rounds, seed and version")
    _, i, j = np.intersect1d(first.runs, second.runs, return_indices=True)
    if metric == "reward":
        return estimate((first.reward[i, -1] - second.reward[j, -1]) / first.setting.rounds)
    return estimate(first.regret[i, -1] - second.regret[j, -1])


def pairable(first: Trace, second: Trace) -> bool:
    """Return whether runs with the same number met the same instance.

    Different versions draw different instances.
    """
    keys = ("problem", "rounds", "seed", "version")
    return all(getattr(first.setting, key) == getattr(second.setting, key) for key in keys)


def rounds_per_second(trace: Trace) -> float:
    """Return the rounds computed per second of computing time on one core."""
    return float(trace.setting.rounds * trace.runs.size / max(trace.seconds.sum(), 1e-12))


def final_record(trace: Trace) -> dict[str, Any]:
    """Return regret at the end and reward per round, with their uncertainty."""
    regret, reward, best = final_regret(trace), mean_reward(trace), best_share(trace)
    return {
        "problem": trace.setting.problem,
        "policy": trace.setting.policy,
        "rounds": trace.setting.rounds,
        "runs": trace.runs.size,
        "seed": trace.setting.seed,
        "regret": regret.mean,
        "regret_se": regret.se,
        "regret_low": regret.low,
        "regret_high": regret.high,
        "reward": reward.mean,
        "reward_se": reward.se,
        "best_share": best.mean,
        "best_share_se": best.se,
    }


def curve_records(trace: Trace) -> Iterator[dict[str, Any]]:
    """Yield mean regret and reward per round, with 95 % intervals, after each checkpoint."""
    regret, reward = curve_of(trace, "regret"), curve_of(trace, "reward")
    for point, rounds in enumerate(trace.checkpoints):
        yield {
            "problem": trace.setting.problem,
            "policy": trace.setting.policy,
            "round": int(rounds),
            **_interval("regret", regret, point),
            **_interval("reward", reward, point),
        }


def _interval(metric: Metric, curve: Curve, point: int) -> dict[str, float]:
    return {
        metric: float(curve.mean[point]),
        f"{metric}_low": float(curve.low[point]),
        f"{metric}_high": float(curve.high[point]),
    }
