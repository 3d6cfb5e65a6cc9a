"""The exact expected regret of small Bernoulli problems, and Lemma 1.

All histories are enumerated. Only the numbers of pulls and of ones of each arm matter. The
probabilities of these states are carried forward round by round, and equal states are merged. With
two arms, round t has about t^3 / 6 states: 12 rounds take a tenth of a second, 20 about one.

Bootstrapping alone fails: its regret grows linearly (Kveton et al., 2019, Section 3.1). Lemma 1 and
its variant with k initial pulls hold in every enumerated case, from the first round on. Both bounds
are 0 after k rounds. They ignore that the second arm's initial pulls are certain.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from giro.checks import check, whole
from giro.errors import BadParameter
from giro.paper.claims import Verdict
from giro.paper.theory.choice_probabilities import (
    ChoiceProbabilities,
    bootstrap_probabilities,
    giro_probabilities,
)
from giro.paper.theory.report import Report, Table, listed, look, panels, table, text
from giro.paper.theory.terms import Floats, Means, check_rounds, checked_means
from giro.policies.bootstrap import Bootstrap
from giro.policies.giro import Giro
from giro.policy import Policy
from giro.simulation.metrics import Estimate, estimate
from giro.simulation.simulate import simulate
from giro.tables import Column, fixed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Ties = Literal["random", "fixed"]
State = tuple[tuple[int, ...], tuple[int, ...]]  # pulls and ones of each arm

_ARMS = 2  # of Lemma 1


def exact_regret(probabilities: ChoiceProbabilities, means: Means, rounds: int) -> Floats:
    """Return the cumulative expected regret after each round 1..rounds, without simulation.

    `probabilities(pulls, ones)` returns the probability of pulling each arm. Regret is that of
    Kveton et al. (2019), Equation 1.

    >>> exact_regret(giro_probabilities(1), [0.7, 0.2], 2).round(6).tolist()
    [0.25, 0.5]
    """
    checked = checked_means(means)
    check_rounds(rounds)
    nothing = (0,) * checked.size
    states: dict[State, float] = {(nothing, nothing): 1.0}
    pulled = np.empty((rounds, checked.size))
    for t in range(rounds):
        states, pulled[t] = _next_round(probabilities, states, checked)
    return np.asarray(np.cumsum(pulled @ (checked.max() - checked)))


def exact_giro_regret(means: Means, rounds: int, a: float = 1.0, ties: Ties = "random") -> Floats:
    """Return the exact cumulative expected regret of Giro after each round.

    With `ties="fixed"` it is the average over all rankings of the arms, each drawn in advance
    with equal probability (Kveton et al., 2019, Section 3.1).
    """
    return _with_ties(partial(giro_probabilities, a), means, rounds, ties)


def exact_bootstrap_regret(
    means: Means, rounds: int, pulls: int = 1, ties: Ties = "fixed"
) -> Floats:
    """Return the exact cumulative expected regret of bootstrapping without pseudo rewards.

    Kveton et al. (2019), Section 3.1: each arm is first pulled `pulls` times, in the order of the
    arms. Ties follow a ranking drawn in advance, over which the regret is averaged. With
    `ties="random"` they are broken at random each time.
    """
    return _with_ties(partial(bootstrap_probabilities, pulls), means, rounds, ties)


def _with_ties(
    probabilities: Callable[..., ChoiceProbabilities], means: Means, rounds: int, ties: Ties
) -> Floats:
    if ties == "random":
        return exact_regret(probabilities(), means, rounds)
    if ties != "fixed":
        raise BadParameter(f"ties are 'random' or 'fixed', got {ties!r}")
    rankings = permutations(range(checked_means(means).size))
    regrets = [exact_regret(probabilities(ranking=r), means, rounds) for r in rankings]
    return np.asarray(np.mean(regrets, axis=0))


def _next_round(
    probabilities: ChoiceProbabilities, states: dict[State, float], means: Floats
) -> tuple[dict[State, float], Floats]:
    """Return the states one round later and the probability that each arm was pulled."""
    later: dict[State, float] = defaultdict(float)
    pulled = np.zeros(means.size)
    for (pulls, ones), probability in states.items():
        chosen = probability * probabilities(pulls, ones)
        pulled += chosen
        for arm in np.flatnonzero(chosen).tolist():
            more = _plus_one(pulls, arm)
            later[more, _plus_one(ones, arm)] += chosen[arm] * means[arm]
            later[more, ones] += chosen[arm] * (1 - means[arm])
    return {state: weight for state, weight in later.items() if weight > 0}, pulled


def _plus_one(counts: tuple[int, ...], arm: int) -> tuple[int, ...]:
    return (*counts[:arm], counts[arm] + 1, *counts[arm + 1 :])


# -- Lemma 1 ---------------------------------------------------------------------------------------


class LinearRegretRow(NamedTuple):
    """The exact regret of bootstrapping after `n` rounds next to its lower bound."""

    n: int
    regret: float
    bound: float
    holds: bool


def linear_regret_bound(means: Means, rounds: int, pulls: int = 1) -> float:
    """Return 0.5 (1 - mu_1)^pulls gap (rounds - pulls), a lower bound on the regret.

    Kveton et al. (2019), Lemma 1 (one initial pull of each arm) and the remark after it. There
    are two arms and the first is the better one. The bound is negative, and so empty, for
    rounds < pulls.
    """
    mean, gap = _best_and_gap(means)
    check_rounds(rounds)
    check("Lemma 1", whole(1), pulls=pulls)
    return 0.5 * (1 - mean) ** pulls * gap * (rounds - pulls)


def linear_regret_rows(means: Means, rounds: int, pulls: int = 1) -> list[LinearRegretRow]:
    """Return the exact regret and its bound for n = 1..rounds, at the cost of `exact_regret`."""
    exact = exact_bootstrap_regret(means, rounds, pulls)
    bounds = [linear_regret_bound(means, n, pulls) for n in range(1, rounds + 1)]
    return [
        LinearRegretRow(n, float(regret), bound, bool(regret >= bound - 1e-12))
        for n, (regret, bound) in enumerate(zip(exact, bounds, strict=True), start=1)
    ]


def _best_and_gap(means: Means) -> tuple[float, float]:
    checked = checked_means(means)
    if checked.size != _ARMS or checked[0] <= checked[1]:
        raise BadParameter(f"Lemma 1 is about two arms, the first the better, got {means!r}")
    return float(checked[0]), float(checked[0] - checked[1])


# -- the report: exact regret, and simulation beside it --------------------------------------------

_MOST_STATES = 400_000  # about half a minute
_FAR = 5.0  # standard errors that chance does not explain in any affordable number of rounds


class Question(NamedTuple):
    """A policy, a problem, and the number of runs simulated beside the exact numbers."""

    policy: str
    ties: Ties | None  # None: those of the policy
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
    """Check that there are not too many pairs of pulls and ones up to the last round."""
    check_rounds(question.rounds)
    arms = checked_means(question.means).size
    states = math.comb(question.rounds + 2 * arms - 1, 2 * arms)
    if policy.ties == "fixed":
        states *= math.factorial(arms)
    if states > _MOST_STATES:
        raise BadParameter(
            f"{question.rounds} rounds of {arms} arms have {states:.2g} states, but at most "
            f"{_MOST_STATES} are computed: use fewer rounds or arms"
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
    """Return Lemma 1's lower bound if it applies, otherwise nothing."""
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
        for row, regret, estimate in zip(rows, exact, simulated, strict=True):
            row += [estimate.mean, estimate.se, _deviation(regret, estimate)]
    if bounds:
        columns.append(Column("bound", "Lemma 1: at least", fixed(5)))
        for row, bound in zip(rows, bounds, strict=True):
            row.append(bound)
    return table("regret", f"Expected cumulative regret of {policy.text}", columns, rows)


def _deviation(exact: float, simulated: Estimate) -> float:
    """Return the difference in standard errors, 0 if nothing is random."""
    difference = simulated.mean - exact
    if abs(difference) < 1e-12:
        return 0.0
    return difference / simulated.se if simulated.se > 0 else math.nan


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
                [estimate.mean for estimate in simulated],
                yerr=np.nan_to_num([estimate.margin for estimate in simulated]),
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
