"""Traces as a table for people and as records for programs."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

from giro.cli._output import Column, print_line, print_table
from giro.simulation.metrics import (
    Estimate,
    best_share,
    final_regret,
    mean_reward,
    rounds_per_second,
)
from giro.simulation.tables import final_record
from giro.simulation.trace import Trace

_MOST_DECIMALS = 4


def record(trace: Trace) -> dict[str, Any]:
    """Return the numbers of one policy on one problem, with all that is needed to repeat them."""
    return {
        **final_record(trace),
        "seconds": float(trace.seconds.sum()),
        "version": trace.setting.version,
    }


def print_results(traces: Sequence[Trace], *, runs: int) -> None:
    """Print a table for each problem, below what is needed to repeat it."""
    groups = itertools.groupby(traces, key=lambda trace: trace.setting.problem)
    for i, (_, group) in enumerate(groups):
        if i > 0:
            print_line()
        _print_problem(list(group), runs)


def _print_problem(traces: list[Trace], runs: int) -> None:
    setting = traces[0].setting
    print_line(f"problem  {setting.problem}")
    print_line(
        f"rounds   {setting.rounds}   runs {runs}   seed {setting.seed}   giro {setting.version}"
    )
    print_line()
    partial = any(trace.runs.size < runs for trace in traces)
    columns = [
        Column("policy", words=True),
        *([Column("runs", right=True)] if partial else []),
        Column("regret", right=True),
        Column("±95%", right=True),
        Column("reward/round", right=True),
        Column("±95%", right=True),
        Column("best arm, last 10%", right=True),
        Column("rounds/s", right=True),
    ]
    print_table(columns, _rows(traces, partial))


def _rows(traces: list[Trace], partial: bool) -> list[list[str]]:
    regrets = _with_margins([final_regret(trace) for trace in traces])
    rewards = _with_margins([mean_reward(trace) for trace in traces])
    return [
        [
            trace.setting.policy,
            *([str(trace.runs.size)] if partial else []),
            *regret,
            *reward,
            f"{best_share(trace).mean:.0%}",
            f"{rounds_per_second(trace):,.0f}",
        ]
        for trace, regret, reward in zip(traces, regrets, rewards, strict=True)
    ]


def _with_margins(estimates: Sequence[Estimate]) -> list[tuple[str, str]]:
    """Return each mean and half its 95 % interval, all with as many decimals."""
    decimals = decimals_for([estimate.margin for estimate in estimates])
    return [(number(e.mean, decimals), number(e.margin, decimals)) for e in estimates]


def decimals_for(margins: Sequence[float]) -> int:
    """Return how many decimals show two digits of the smallest uncertainty.

    >>> decimals_for([4.2, 16.3]), decimals_for([123.0]), decimals_for([0.02, 1.0])
    (1, 0, 3)
    """
    known = [margin for margin in margins if margin > 0]
    if not known:
        return 1
    return min(_MOST_DECIMALS, max(0, 1 - math.floor(math.log10(min(known)))))


def number(value: float, decimals: int) -> str:
    """Return a number with so many decimals, or a dash for an unknown one."""
    return "-" if math.isnan(value) else f"{value:.{decimals}f}"
