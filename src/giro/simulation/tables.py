"""Traces as records: means over runs with their uncertainty, at the end and on the way."""

from collections.abc import Iterator
from typing import Any

from giro.simulation.metrics import (
    Curve,
    Metric,
    best_share,
    final_regret,
    mean_reward,
    regret_curve,
    reward_curve,
)
from giro.simulation.trace import Trace


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
    regret, reward = regret_curve(trace), reward_curve(trace)
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
