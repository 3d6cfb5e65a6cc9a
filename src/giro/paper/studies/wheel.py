"""The wheel, and Statlog: published shares of the regret of uniform, beside those found here.

This study is not in the paper. The figures are those of Riquelme et al. (2018) for their network
with a linear posterior, after 80,000 rounds, and of Wen et al. (2020), Table 3, for the linear
posterior on Statlog, whose rounds we do not know: here are a part of the set and all of it.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from giro.cli.output import print_line, print_table
from giro.datasets.dataset import SHAPES
from giro.errors import UnknownName
from giro.paper.study import Outcome, Study
from giro.policy import Policy
from giro.problem import Problem
from giro.problems.classification import Classification
from giro.problems.wheel import Wheel
from giro.simulation.metrics import final_regret
from giro.simulation.simulate import Experiment
from giro.simulation.trace import Trace
from giro.tables import Column, fixed

ROUNDS, RUNS = 80_000, 5
SHARES = {0.5: 0.95, 0.7: 1.60, 0.9: 4.65, 0.95: 9.56, 0.99: 49.63}  # by delta, in %
STATLOG, PART = 19.0, 2_000  # share, rounds
NEURAL = Policy.parse("neural-linear:b=6/2601,every=200,steps=200,batch=128")  # b of rewards / 51
LINEAR = Policy.parse("lin-post")
UNIFORM = Policy.parse("uniform")


class Published(NamedTuple):
    """A published figure, with the problem, the policy and the rounds that are played for it."""

    problem: Problem
    policy: Policy
    rounds: int
    share: float  # of the regret of uniform, in %


def published(rounds: int) -> list[Published]:
    """Return the figures, with at most this many rounds."""
    statlog, size = Classification("statlog"), SHAPES["statlog"].rows
    wheels = [Published(Wheel(delta), NEURAL, rounds, share) for delta, share in SHARES.items()]
    parts = dict.fromkeys(min(n, rounds) for n in (PART, size))
    return [*wheels, *(Published(statlog, LINEAR, n, STATLOG) for n in parts)]


def study(*, rounds: int, runs: int, seed: int, only: Sequence[str]) -> Study:
    """Return the study of the figures for problems with these words, all if there are none."""
    figures = published(rounds)
    for word in only:
        if not any(word in figure.problem.text for figure in figures):
            known = dict.fromkeys(figure.problem.text for figure in figures)
            raise UnknownName("problem with a published figure", word, known=known)
    asked = [f for f in figures if not only or any(word in f.problem.text for word in only)]
    return Study(
        f"giro reproduce wheel --rounds {rounds} --runs {runs} --seed {seed}"
        + (f" --only {','.join(only)}" if only else ""),
        partial(_outcome, asked),
        [
            Experiment([figure.problem], [UNIFORM, figure.policy], figure.rounds, runs, seed, 100)
            for figure in asked
        ],
    )


def _outcome(figures: Sequence[Published], traces: list[Trace], complete: bool) -> Outcome:
    played = {
        (trace.setting.problem, trace.setting.policy, trace.setting.rounds): trace
        for trace in traces
    }
    finals = []
    for figure in figures:
        trace, uniform = (
            played.get((figure.problem.text, policy.text, figure.rounds))
            for policy in (figure.policy, UNIFORM)
        )
        if trace is not None and uniform is not None:
            finals.append(_record(figure, trace, uniform))
    return Outcome({"finals": finals}, {"finals": finals}, partial(_show, finals))


def _record(figure: Published, trace: Trace, uniform: Trace) -> dict[str, Any]:
    """Return the share of uniform's mean regret, in %, and the one published."""
    regret, whole = final_regret(trace), final_regret(uniform).mean
    share, error = 100 * regret.mean / whole, 100 * regret.se / whole
    return {
        "problem": figure.problem.text,
        "policy": figure.policy.text,
        "rounds": figure.rounds,
        "runs": trace.runs.size,
        "regret": regret.mean,
        "uniform_regret": whole,
        "share": share,
        "share_se": error,
        "published": figure.share,
        "more": share - figure.share,
    }


def _show(finals: Sequence[Mapping[str, Any]]) -> None:
    """Print a table of all figures."""
    columns = [
        Column("problem"),
        Column("policy"),
        Column("rounds"),
        Column("runs"),
        Column("share", "% of uniform", fixed(2)),
        Column("share_se", "se", fixed(2)),
        Column("published", "published", fixed(2)),
        Column("more", "more by", fixed(2)),
    ]
    print_table(columns, finals)
    print_line()
