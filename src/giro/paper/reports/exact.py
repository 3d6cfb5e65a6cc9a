"""The exact expected regret of a small problem, and simulation beside it."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from giro.errors import BadParameter
from giro.paper.claims import Verdict
from giro.paper.reports._formats import listed, text
from giro.paper.reports._panels import look, panels
from giro.paper.reports.report import Report, Table
from giro.paper.theory.exact import Ties, exact_bootstrap_regret, exact_giro_regret
from giro.paper.theory.gaps import check_rounds, checked_means
from giro.paper.theory.linear_regret import linear_regret_bound
from giro.policies.bootstrap import Bootstrap
from giro.policies.giro import Giro
from giro.policy import Policy
from giro.simulation.metrics import Estimate, estimate
from giro.simulation.simulate import simulate
from giro.tables import Column, Record, fixed

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
    policy = _policy(question.policy, question.ties)
    _check_size(question, policy)
    exact = _exact(policy, question.means, question.rounds)
    simulated = _simulated(policy, question) if question.runs > 0 else []
    bounds = _bounds(policy, question)
    table = _table(policy, exact, simulated, bounds)
    return Report(
        command=_command(question, policy),
        tables=(table,),
        statements=(*_about_simulation(exact, simulated), *_about_bounds(exact, bounds)),
        draw=partial(_draw, policy, exact, simulated, bounds, question.runs),
    )


def _command(question: Question, policy: Giro | Bootstrap) -> str:
    simulated = f" --runs {question.runs} --seed {question.seed}" if question.runs else ""
    return (
        f"giro theory exact --means {listed(question.means)} --rounds {question.rounds} "
        f"--policy {policy.text}{simulated}"
    )


def _policy(wanted: str, ties: Ties | None) -> Giro | Bootstrap:
    policy = Policy.parse(wanted)
    if not isinstance(policy, Giro | Bootstrap):
        raise BadParameter(f"exact regret is known for giro and bootstrap, got '{policy.text}'")
    return policy if ties is None else replace(policy, ties=ties)


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


def _exact(policy: Giro | Bootstrap, means: Sequence[float], rounds: int) -> list[float]:
    if isinstance(policy, Giro):
        regret = exact_giro_regret(means, rounds, policy.a, policy.ties)
    else:
        regret = exact_bootstrap_regret(means, rounds, policy.pulls, policy.ties)
    return [float(value) for value in regret]


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
    fields = [Column("round", show=text), Column("regret", "exact regret", fixed(5))]
    if simulated:
        fields += [
            Column("simulated", show=fixed(5)),
            Column("se", "standard error", fixed(5)),
            Column("deviation", "difference / se", fixed(2)),
        ]
    if bounds:
        fields.append(Column("bound", "Lemma 1: at least", fixed(5)))
    records: list[Record] = [
        {
            "round": i + 1,
            "regret": exact[i],
            **(_beside(exact[i], simulated[i]) if simulated else {}),
            **({"bound": bounds[i]} if bounds else {}),
        }
        for i in range(len(exact))
    ]
    return Table("regret", f"Expected cumulative regret of {policy.text}", fields, records)


def _beside(exact: float, found: Estimate) -> dict[str, float]:
    return {"simulated": found.mean, "se": found.se, "deviation": _deviation(exact, found)}


def _deviation(exact: float, found: Estimate) -> float:
    """Return the difference in standard errors; 0 where nothing is random."""
    difference = found.mean - exact
    if abs(difference) < 1e-12:
        return 0.0
    return difference / found.se if found.se > 0 else math.nan


def _about_simulation(exact: Sequence[float], simulated: Sequence[Estimate]) -> list[Verdict]:
    if not simulated:
        return []
    deviations = [abs(_deviation(e, s)) for e, s in zip(exact, simulated, strict=True)]
    return [
        Verdict(
            "simulation agrees with the exact regret",
            max(deviations) < _FAR,
            f"largest difference {max(deviations):.2f} standard errors, at the end "
            f"{simulated[-1].mean:.4f} ± {simulated[-1].se:.4f} (se) against {exact[-1]:.4f}",
        )
    ]


def _about_bounds(exact: Sequence[float], bounds: Sequence[float]) -> list[Verdict]:
    if not bounds:
        return []
    holds = all(e >= b - 1e-12 for e, b in zip(exact, bounds, strict=True))
    figures = f"{exact[-1]:.4f} against {bounds[-1]:.4f} at the end"
    return [Verdict("Lemma 1: regret >= 0.5 (1 - mean)^pulls gap (n - pulls)", holds, figures)]


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
