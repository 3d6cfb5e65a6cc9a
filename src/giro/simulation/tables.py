"""What an experiment leaves behind: small tables of means, and a note on what made them."""

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numba
import numpy as np

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
from giro.version import __version__

Record = Mapping[str, Any]

_DIGITS = 6  # of a number in a CSV file


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


def write_table(folder: Path, name: str, records: Sequence[Record]) -> None:
    """Write records as CSV."""
    with (folder / f"{name}.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(records[0])
        rows.writerows([_text(value) for value in record.values()] for record in records)


def _text(value: Any) -> str:
    if not isinstance(value, float):
        return "" if value is None else str(value)
    return "" if math.isnan(value) else f"{value:.{_DIGITS}g}"


def write_made_by(folder: Path, command: str, version: str = __version__) -> None:
    """Write down the command that makes this folder anew, and the versions behind it."""
    runs_of = "" if version == __version__ else f", runs of giro {version}"
    lines = (
        command,
        f"giro {__version__}{runs_of}",
        f"numpy {np.__version__}, numba {numba.__version__}",
    )
    (folder / "made-by.txt").write_text("\n".join(lines) + "\n")
