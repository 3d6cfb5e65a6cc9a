"""The exact expected regret of a small problem, and simulation beside it."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from giro.errors import BadParameter
from giro.paper.figures.exact import Simulated, exact_figure
from giro.paper.figures.panels import Curve
from giro.paper.reports.formats import fixed, listed, text
from giro.paper.reports.report import Field, Record, Report, Statement, Table
from giro.paper.theory.exact import Ties, exact_bootstrap_regret, exact_giro_regret
from giro.paper.theory.gaps import check_rounds, checked_means
from giro.paper.theory.linear_regret import linear_regret_bound
from giro.policies.bootstrap import Bootstrap
from giro.policies.giro import Giro
from giro.policy import Policy
from giro.simulation.metrics import Estimate, estimate
from giro.simulation.simulate import simulate

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
    """Refuse what would take too long: all pairs of pulls and ones up to the last round."""
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
    fields = [Field("round", "round", text), Field("regret", "exact regret", fixed(5))]
    if simulated:
        fields += [
            Field("simulated", "simulated", fixed(5)),
            Field("se", "standard error", fixed(5)),
            Field("deviation", "difference / se", fixed(2)),
        ]
    if bounds:
        fields.append(Field("bound", "Lemma 1: at least", fixed(5)))
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


def _about_simulation(exact: Sequence[float], simulated: Sequence[Estimate]) -> list[Statement]:
    if not simulated:
        return []
    deviations = [abs(_deviation(e, s)) for e, s in zip(exact, simulated, strict=True)]
    return [
        Statement(
            "simulation agrees with the exact regret",
            max(deviations) < _FAR,
            f"largest difference {max(deviations):.2f} standard errors, at the end "
            f"{simulated[-1].mean:.4f} ± {simulated[-1].se:.4f} (se) against {exact[-1]:.4f}",
        )
    ]


def _about_bounds(exact: Sequence[float], bounds: Sequence[float]) -> list[Statement]:
    if not bounds:
        return []
    holds = all(e >= b - 1e-12 for e, b in zip(exact, bounds, strict=True))
    figures = f"{exact[-1]:.4f} against {bounds[-1]:.4f} at the end"
    return [Statement("Lemma 1: regret >= 0.5 (1 - mean)^pulls gap (n - pulls)", holds, figures)]


def _draw(
    policy: Policy,
    exact: Sequence[float],
    simulated: Sequence[Estimate],
    bounds: Sequence[float],
    runs: int,
) -> Figure:
    rounds = list(range(1, len(exact) + 1))
    points = None
    if simulated:
        margins = np.nan_to_num([found.margin for found in simulated])
        points = Simulated([found.mean for found in simulated], margins, runs)
    lower = Curve("Lemma 1, lower bound", rounds, bounds) if bounds else None
    return exact_figure(Curve(policy.text, rounds, exact), points, lower)
