"""The family: policies without contexts beside each other, and beside the limit of their regret.

This study is not in the paper. Means are the same in all runs, because the limit says little of
means that are drawn: where two of them are nearly equal it is large, and met only after very many
rounds.
"""

import itertools
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from giro.cli.output import print_line, print_table
from giro.errors import UnknownName
from giro.paper.study import Outcome, Study
from giro.policy import Policy
from giro.problem import Problem
from giro.problems.bernoulli import Bernoulli
from giro.problems.beta import Beta
from giro.problems.discrete import Discrete
from giro.problems.gaussian import Gaussian
from giro.simulation.limit import lai_robbins, slope
from giro.simulation.metrics import estimate, rounds_per_second
from giro.simulation.simulate import Experiment
from giro.simulation.trace import Trace
from giro.tables import Column, fixed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROUNDS, RUNS, POINTS = 100_000, 100, 61  # of a power of ten, a tenth of the rounds is a checkpoint
ARMS = (10, 100)
LEVELS = np.linspace(0.25, 0.75, 10)  # the best arm is at the last one, the others share the rest
POLICIES = tuple(
    Policy.parse(text).text
    for text in (
        "ucb1",
        "kl-ucb:c=0",
        "imed",
        "thompson",
        "maillard",
        "giro:a=1",
        "giro:a=1/10",
        "phe:a=1.1",
        "reboot:r=1.5",
        "reboot:r=1/4",
        "besa",
        "sda:block=random",
        "sda:block=last",
        "sda:block=sample",
        "sda:block=worst",
        "npts",  # the last, as it is slow on rewards other than 0 and 1
    )
)
DRAWN = {Policy.parse(text).text for text in ("thompson", "imed", "giro:a=1/10", "sda", "npts")}


def family_means(n_arms: int) -> tuple[float, ...]:
    """Return the mean of each arm: one at the highest level, the others shared by those below."""
    below = np.tile(LEVELS[:-1], n_arms // 9 + 1)[: n_arms - 1]
    return (float(LEVELS[-1]), *below.tolist())


def problems() -> dict[str, Problem]:
    """Return the problems by name, those with few arms first.

    A discrete reward of mean m is half the number of heads in two tosses of a coin.
    """
    named: dict[str, Problem] = {}
    for n_arms in ARMS:
        means = family_means(n_arms)
        tosses = tuple(((1 - m) ** 2, 2 * m * (1 - m), m * m) for m in means)
        of_arms: dict[str, Problem] = {
            "bernoulli": Bernoulli(means=means),
            "beta, v = 4": Beta(means=means, v=4.0),
            "beta, v = 16": Beta(means=means, v=16.0),
            "gaussian": Gaussian(means=means),
            "discrete": Discrete(probabilities=tosses),
        }
        named |= {f"{name}, {n_arms} arms": problem for name, problem in of_arms.items()}
    return named


def study(
    *, rounds: int, runs: int, seed: int, only: Sequence[str], policies: Sequence[str]
) -> Study:
    """Return the study of these policies, all if there are none, on problems with these words."""
    named = problems()
    for word in only:
        if not any(word in name for name in named):
            raise UnknownName("problem of the family", word, known=named)
    asked = {
        name: problem
        for name, problem in named.items()
        if not only or any(word in name for word in only)
    }
    chosen = [Policy.parse(text).text for text in policies] or list(POLICIES)
    return Study(
        f"giro reproduce family --rounds {rounds} --runs {runs} --seed {seed}"
        + (f" --only {','.join(only)}" if only else "")
        + (f" --policies {','.join(policies)}" if policies else ""),
        partial(_outcome, {problem.text: name for name, problem in asked.items()}),
        [Experiment(list(asked.values()), chosen, rounds, runs, seed, POINTS, "log")],
    )


def _outcome(names: Mapping[str, str], traces: list[Trace], complete: bool) -> Outcome:
    played = {trace.setting.problem for trace in traces}
    limits = {text: lai_robbins(text, runs=1) for text in names if text in played}
    finals = [_record(trace, names, limits) for trace in traces]
    return Outcome(
        {"finals": finals},
        {"finals": finals},
        partial(_show, finals),
        partial(_figures, traces, names, limits),
    )


def _record(trace: Trace, names: Mapping[str, str], limits: Mapping[str, float]) -> dict[str, Any]:
    """Return regret after a tenth of the rounds and after all, its slope, and ns of a round."""
    tenth = int(np.searchsorted(trace.checkpoints, trace.setting.rounds / 10))
    early, late, grows = (
        estimate(trace.regret[:, tenth]),
        estimate(trace.regret[:, -1]),
        slope(trace),
    )
    limit = limits[trace.setting.problem]
    return {
        "problem": names[trace.setting.problem],
        "policy": trace.setting.policy,
        "rounds": trace.setting.rounds,
        "runs": trace.runs.size,
        "early_regret": early.mean,
        "early_regret_se": early.se,
        "regret": late.mean,
        "regret_se": late.se,
        "limit": limit,
        "over_limit": grows.mean / limit,
        "over_limit_se": grows.se / limit,
        "ns_per_round": 1e9 / rounds_per_second(trace),
    }


def _show(finals: Sequence[Mapping[str, Any]]) -> None:
    """Print a table for each problem."""
    columns = [
        Column("policy"),
        Column("runs"),
        Column("early_regret", "regret, a tenth", fixed(1)),
        Column("regret", "regret, all rounds", fixed(1)),
        Column("regret_se", "se", fixed(1)),
        Column("over_limit", "slope/limit", fixed(2)),
        Column("over_limit_se", "se", fixed(2)),
        Column("ns_per_round", "ns a round", fixed(0)),
    ]
    for problem, group in itertools.groupby(finals, key=lambda final: final["problem"]):
        records = list(group)
        print_line(f"problem  {problem}")
        print_line(f"rounds   {records[0]['rounds']}   limit {records[0]['limit']:.4g} log n")
        print_line()
        print_table(columns, records)
        print_line()


def _figures(
    traces: Sequence[Trace], names: Mapping[str, str], limits: Mapping[str, float]
) -> "dict[str, Figure]":
    """Return a figure of a few policies on the problems with few arms, or else of all traces."""
    from giro.plots import regret_figure  # noqa: PLC0415  # quick start without matplotlib

    few = [trace for trace in traces if names[trace.setting.problem].endswith(f" {ARMS[0]} arms")]
    drawn = [trace for trace in few if trace.setting.policy in DRAWN] or few or traces
    return {"regret": regret_figure(drawn, x="log", y="log", names=names, limits=limits)}
