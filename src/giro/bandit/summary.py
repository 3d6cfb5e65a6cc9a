"""The decisions and rewards of each arm, and an estimate of the policy's own rewards."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from giro.errors import BadParameter
from giro.estimates import Estimate, normal_estimate, ratio_error, wilson_estimate
from giro.kernels.generations import Generations, squares_in_use
from giro.kernels.hashed import Collisions, Table, collisions
from giro.tables import Column, decimals_for, fixed, table_html

if TYPE_CHECKING:
    import polars as pl

    from giro.bandit.counts import ArmCounts
    from giro.bandit.state import BanditState

_SHOWN = 20  # arms in the table of a notebook


def summary(state: "BanditState", now: float) -> "pl.DataFrame":
    """Return a row for each arm.

    See `Bandit.summary`.
    """
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    recent = np.zeros(len(state.arms))
    for hour, counts in state.counts.hours.items():
        if -24 < hour - now // 3600 <= 1:  # clocks may differ a little
            for arm, count in counts.items():
                recent[arm] += count
    rows, active, total = [], set(state.active.tolist()), recent.sum()
    for arm, (name, own) in enumerate(zip(state.arms, state.counts.arms, strict=True)):
        reward = _mean_reward(own, state)
        rows.append(
            {
                "arm": name,
                "active": bool(recent[arm]) if state.setting.open_arms else arm in active,
                "decisions": own.decisions,
                "rewards": own.rewards,
                "mean": None if reward is None else reward.value,
                "low": None if reward is None else reward.low,
                "high": None if reward is None else reward.high,
                "last_day": float(recent[arm] / total) if total else None,
            }
        )
    kinds = {"arm": pl.String, "active": pl.Boolean, "decisions": pl.Int64, "rewards": pl.Int64}
    numbers = ("mean", "low", "high", "last_day")
    return pl.DataFrame(rows, schema=kinds | dict.fromkeys(numbers, pl.Float64))


def summary_html(state: "BanditState") -> str:
    """Return the table that a notebook shows of a bandit: its arms, the most frequent first."""
    n, waiting = state.n_decisions, state.n_decisions - state.n_rewards
    active, records = set(state.active.tolist()), list[dict[str, Any]]()
    for arm, (name, own) in enumerate(zip(state.arms, state.counts.arms, strict=True)):
        reward = _mean_reward(own, state)
        is_retired = not (state.setting.open_arms or arm in active)
        records.append(
            {
                "arm": f"{name} (retired)" if is_retired else name,
                "decisions": own.decisions,
                "share": own.decisions / n if n else 0.0,
                "mean": None if reward is None else reward.value,
                "low": None if reward is None else reward.low,
                "high": None if reward is None else reward.high,
                "pending": max(0, own.decisions - own.rewards),
            }
        )
    records.sort(key=lambda record: -record["decisions"])
    shown = records[:_SHOWN]
    widths = [each["high"] - each["low"] for each in shown if each["high"] is not None]
    number = fixed(decimals_for(widths, unknown=2))
    columns = [
        Column("arm"),
        Column("decisions", show="{:,}".format),
        Column("share", show="{:.1%}".format),
        Column("mean", "mean reward", number),
        Column("low", "95 % from", number),
        Column("high", "to", number),
        Column("pending", show="{:,}".format),
    ]
    title = "Bandit" if state.setting.name is None else f"Bandit {state.setting.name}"
    heading = f"{title}: {n:,} decisions, {state.n_rewards:,} rewards, {waiting:,} pending"
    more = f"and {len(records) - _SHOWN:,} more arms" if len(records) > _SHOWN else ""
    policy = state.setting.policy.text
    return table_html(columns, shown, heading=heading, notes=[policy, more], bar="share")


def _mean_reward(counts: "ArmCounts", state: "BanditState") -> Estimate | None:
    """Return the mean of an arm's rewards.

    It has Wilson's interval if all are the lowest or highest.
    """
    n, mean = counts.rewards, counts.mean
    if n == 0:
        return None
    low, high = state.setting.reward_range
    if state.counts.binary:
        share = wilson_estimate(n * (mean - low) / (high - low), n)
        return Estimate(mean, *(low + (high - low) * end for end in share[1:]))
    se = ratio_error(counts.spread, n, n)
    if math.isnan(se):
        return Estimate(mean, se, low, high)
    estimate = normal_estimate(mean, se)
    return estimate._replace(low=max(low, estimate.low), high=min(high, estimate.high))


class Apprenticeship(NamedTuple):
    """An estimate of how a policy would have done where a baseline decides, always or mostly."""

    decisions: int
    agreement: float | None  # mean probability with which the policy would have done the same
    earned: float | None  # mean reward of what was done
    would_have_earned: float | None  # mean reward of the policy by itself, an estimate
    standard_error: float | None  # of that estimate


def apprenticeship(state: "BanditState") -> Apprenticeship:
    """Return the estimate.

    The estimate is that of `giro.evaluate` called SNIPS: rewards weighted by the policy's own
    probability of the arm over the one with which it was taken. Where only the baseline was ever
    taken, it refers to the decisions in which the policy agrees.
    """
    n, m, alone = state.n_decisions, state.n_rewards, state.counts.alone.estimate()
    return Apprenticeship(
        n,
        state.counts.agreement / n if n else None,
        state.counts.total / m if m else None,
        None if alone is None else alone.value,
        None if alone is None else alone.se,
    )


def table_collisions(state: "BanditState") -> Collisions:
    """Return how many features share a column of the table, where the policy hashes them."""
    tables = None if state.live is None else next(_tables(state.live.state), None)
    if tables is None:
        policy = state.setting.policy
        raise BadParameter(f"{policy} has no table of hashed features, or is not used")
    return collisions(squares_in_use(tables))


def _tables(state: Any) -> Iterator[Table | Generations]:
    if isinstance(state, Table | Generations):
        yield state
    elif isinstance(state, tuple):
        for part in state:
            yield from _tables(part)
