"""What a bandit has seen, arm by arm, and how its policy would have done by itself."""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import polars as pl

    from giro.bandit.state import BanditState

_Z = 1.959963984540054  # of a 95 % interval


def summary(state: "BanditState", now: float) -> "pl.DataFrame":
    """Return a row for each arm; see `Bandit.summary`."""
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    decisions, rewards, total, squares = state.counts[:, : len(state.arms)]
    recent = np.zeros(len(state.arms))
    for hour, counts in state.hours.items():
        if hour > now // 3600 - 24:
            for arm, count in counts.items():
                recent[arm] += count
    rows, is_open = [], state.setting.open_arms
    for arm, name in enumerate(state.arms):
        n = rewards[arm]
        low, mean, high = _interval(n, total[arm], squares[arm], state)
        rows.append(
            {
                "arm": name,
                "active": bool(recent[arm] if is_open else np.isin(arm, state.active)),
                "decisions": int(decisions[arm]),
                "rewards": int(n),
                "mean": mean,
                "low": low,
                "high": high,
                "last_day": float(recent[arm] / recent.sum()) if recent.any() else None,
            }
        )
    kinds = {name: pl.Float64 for name in ("mean", "low", "high", "last_day")}
    return pl.DataFrame(rows, schema_overrides=kinds)


def _interval(
    n: float, total: float, squares: float, state: "BanditState"
) -> tuple[float | None, float | None, float | None]:
    """Return the mean of n rewards between the ends of its 95 % interval."""
    if n == 0:
        return None, None, None
    low, high = state.setting.reward_range
    mean = total / n
    if state.binary:  # Wilson's interval, on the scale of 0 and 1
        p, z2 = (mean - low) / (high - low), _Z * _Z
        centre = (p + z2 / (2 * n)) / (1 + z2 / n)
        half = _Z / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
        return low + (high - low) * (centre - half), mean, low + (high - low) * (centre + half)
    if n < 2:
        return low, mean, high
    variance = max(0.0, squares - n * mean * mean) / (n - 1)
    half = _Z * math.sqrt(variance / n)
    return max(low, mean - half), mean, min(high, mean + half)


class Apprenticeship(NamedTuple):
    """How a policy would have done where a baseline decides, or decides most of the time."""

    decisions: int
    agreement: float | None  # mean probability with which the policy would have done the same
    earned: float | None  # mean reward of what was done
    would_have_earned: float | None  # mean reward of the policy by itself, an estimate
    standard_error: float | None  # of that estimate


def apprenticeship(state: "BanditState") -> Apprenticeship:
    """Return the report.

    The estimate is self-normalised: rewards weighted by the policy's own probability of the arm
    over the one with which it was taken. Where only the baseline was ever taken, it speaks of the
    decisions in which the policy agrees.
    """
    n, m = state.n_decisions, state.n_rewards
    own, weight, weighted, squares = state.own.tolist()
    earned = state.total / m if m else None
    if m == 0 or weight <= 0.0:
        return Apprenticeship(n, own / n if n else None, earned, None, None)
    estimate = weighted / weight
    spread = max(0.0, squares - weighted * weighted / m)
    return Apprenticeship(n, own / n, earned, estimate, math.sqrt(spread) / weight)
