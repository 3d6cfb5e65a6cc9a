"""The exact expected regret of a small problem, and simulation beside it."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from giro.errors import BadParameter
from giro.paper.claims import Verdict
from giro.paper.theory.exact import (
    Ties,
    exact_bootstrap_regret,
    exact_giro_regret,
    linear_regret_bound,
)
from giro.paper.theory.report import Report, Table, listed, look, panels, table, text
from giro.paper.theory.terms import check_rounds, checked_means
from giro.policies.bootstrap import Bootstrap
from giro.policies.giro import Giro
from giro.policy import Policy
from giro.simulation.metrics import Estimate, estimate
from giro.simulation.simulate import simulate
from giro.tables import Column, fixed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_STATES = 400_000  # about half a minute
_FAR = 5.0  # standard errors that chance does not explain in any number of rounds we can afford


class Question(NamedTuple):
    """A policy, a problem, and how many runs are simulated beside the exact numbers."""

    policy: str
    ties: Ties | None  # None: as the policy has it
    means: Sequence[float]
    rounds: int
    runs: int
    seed: int


def exact_report(question: Question) -> Report:
    """Return the exact regret after each round, with its simulation if runs > 0."""
    policy, means, rounds = Policy.parse(question.policy), question.means, question.rounds
    if not isinstance(policy, Giro | Bootstrap):
        raise BadParameter(f"exact regret is known for giro and bootstrap, got '{policy.text}'")
    if question.ties is not None:
        policy = replace(policy, ties=question.ties)
    _check_size(question, policy)
    if isinstance(policy, Giro):
        regret = exact_giro_regret(means, rounds, policy.a, policy.ties)
    else:
        regret = exact_bootstrap_regret(means, rounds, policy.pulls, policy.ties)
    exact = regret.tolist()
    simulated = _simulated(policy, question) if question.runs > 0 else []
    bounds = _bounds(policy, question)
    return Report(
        command=(
            f"giro theory exact --means {listed(means)} --rounds {rounds} "
            f"--policy {policy.text}"
            + (f" --runs {question.runs} --seed {question.seed}" if question.runs else "")
        ),
        tables=(_table(policy, exact, simulated, bounds),),
        statements=_statements(exact, simulated, bounds),
        draw=partial(_draw, policy, exact, simulated, bounds, question.runs),
    )


def _check_size(question: Question, policy: Giro | Bootstrap) -> None:
    """Check that all pairs of pulls and ones up to the last round are few enough."""
    check_rounds(question.rounds)
    arms = checked_means(question.means).size
    states = math.comb(question.rounds + 2 * arms - 1, 2 * arms)
    if policy.ties == "fixed":
        states *= math.factorial(arms)
    if states > _MOST_STATES:
        raise BadParameter(
            f"{question.rounds} rounds of {arms} arms have {states:.2g} states, at most "
            f"{_MOST_STATES} are computed; take fewer rounds or arms"
        )


def _simulated(policy: Policy, question: Question) -> list[Estimate]:
    trace = simulate(
        policy,
        f"bernoulli:means=[{listed(question.means)}]",
        rounds=question.rounds,
        runs=question.runs,
        seed=question.seed,
        points=question.rounds,
    )
    return [estimate(trace.regret[:, i]) for i in range(question.rounds)]


def _bounds(policy: Policy, question: Question) -> list[float]:
    """Return Lemma 1's lower bound where it applies, nothing elsewhere."""
    means = question.means
    about = isinstance(policy, Bootstrap) and policy.ties == "fixed" and len(means) == 2
    if not (about and means[0] > means[1] and isinstance(policy, Bootstrap)):
        return []
    rounds = range(1, question.rounds + 1)
    return [max(0.0, linear_regret_bound(means, n, policy.pulls)) for n in rounds]


def _table(
    policy: Policy, exact: Sequence[float], simulated: Sequence[Estimate], bounds: Sequence[float]
) -> Table:
    columns = [Column("round", show=text), Column("regret", "exact regret", fixed(5))]
    rows: list[list[float]] = [[i, regret] for i, regret in enumerate(exact, start=1)]
    if simulated:
        columns += [
            Column("simulated", show=fixed(5)),
            Column("se", "standard error", fixed(5)),
            Column("deviation", "difference / se", fixed(2)),
        ]
        for row, regret, found in zip(rows, exact, simulated, strict=True):
            row += [found.mean, found.se, _deviation(regret, found)]
    if bounds:
        columns.append(Column("bound", "Lemma 1: at least", fixed(5)))
        for row, bound in zip(rows, bounds, strict=True):
            row.append(bound)
    return table("regret", f"Expected cumulative regret of {policy.text}", columns, rows)


def _deviation(exact: float, found: Estimate) -> float:
    """Return the difference in standard errors; 0 where nothing is random."""
    difference = found.mean - exact
    if abs(difference) < 1e-12:
        return 0.0
    return difference / found.se if found.se > 0 else math.nan


def _statements(
    exact: Sequence[float], simulated: Sequence[Estimate], bounds: Sequence[float]
) -> list[Verdict]:
    statements = []
    if simulated:
        far = max(abs(_deviation(e, s)) for e, s in zip(exact, simulated, strict=True))
        figures = (
            f"largest difference {far:.2f} standard errors, at the end "
            f"{simulated[-1].mean:.4f} ± {simulated[-1].se:.4f} (se) against {exact[-1]:.4f}"
        )
        statements.append(Verdict("simulation agrees with the exact regret", far < _FAR, figures))
    if bounds:
        claim = "Lemma 1: regret >= 0.5 (1 - mean)^pulls gap (n - pulls)"
        holds = all(e >= b - 1e-12 for e, b in zip(exact, bounds, strict=True))
        figures = f"{exact[-1]:.4f} against {bounds[-1]:.4f} at the end"
        statements.append(Verdict(claim, holds, figures))
    return statements


def _draw(
    policy: Policy,
    exact: Sequence[float],
    simulated: Sequence[Estimate],
    bounds: Sequence[float],
    runs: int,
) -> "Figure":
    """Return the exact curve, simulated points with error bars, and Lemma 1's lower bound."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415  # quick start

    rounds = list(range(1, len(exact) + 1))
    with panels(1) as (figure, (panel,)):
        panel.plot(rounds, exact, label=f"{policy.text}, exact", **look(0))
        if simulated:
            panel.errorbar(
                rounds,
                [found.mean for found in simulated],
                yerr=np.nan_to_num([found.margin for found in simulated]),
                fmt="o",
                markersize=3,
                color=look(1)["color"],
                elinewidth=1,
                label=f"simulated, {runs:,} runs",
            )
        if bounds:
            panel.plot(rounds, bounds, label="Lemma 1, lower bound", **look(2))
        panel.set_ylim(bottom=0)
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel.set_xlabel("round")
        panel.set_ylabel("cumulative regret")
        panel.legend(loc="upper left")
    return figure
