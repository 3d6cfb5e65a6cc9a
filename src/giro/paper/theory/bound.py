"""The regret bound of Bernoulli Giro, term by term (Kveton et al., 2019, Theorem 2).

The constant c is e^27.6 for a = 1 and beyond any float as `a` nears 1 / sqrt(2), so numbers that
contain it are kept as logarithms. Section 5.3 says that the bound increases with `a`. Because of c
it falls until a = 6.94 and rises only then. Theorem 1 in numbers does increase where we tried.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import logsumexp

from giro.errors import BadParameter
from giro.paper.claims import Verdict
from giro.paper.theory.report import (
    GREY,
    Report,
    Table,
    digits,
    from_log,
    listed,
    log10,
    look,
    panels,
    power,
    powers_of_ten,
    table,
    text,
)
from giro.paper.theory.terms import (
    Check,
    Means,
    SuboptimalArm,
    check_at_most,
    check_rounds,
    suboptimal_arms,
)
from giro.tables import Column, fixed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LARGEST_LOG = math.log(np.finfo(np.float64).max)


@dataclass(frozen=True)
class ArmBound:
    """The bounds of Theorem 2 on a_i and b_i of Theorem 1, for one suboptimal arm."""

    arm: int
    gap: float
    log_a: float  # log of (16 (2a + 1) c / gap^2) log n + 2
    b: float  # (8 (2a + 1) / gap^2) log n + 2

    @property
    def log_pulls(self) -> float:
        """Return the logarithm of the bound on the arm's expected pulls."""
        return float(np.logaddexp(self.log_a, math.log(self.b)))

    @property
    def log_regret(self) -> float:
        """Return the logarithm of the bound on the regret that the arm causes."""
        return math.log(self.gap) + self.log_pulls


@dataclass(frozen=True)
class GiroBound:
    """The terms of Theorem 2, and their sum, the bound on the regret."""

    b: float
    log_f: float
    log_c: float
    arms: tuple[ArmBound, ...]

    @property
    def log_regret(self) -> float:
        """Return the logarithm of the bound on the regret."""
        return float(logsumexp([arm.log_regret for arm in self.arms]))

    @property
    def regret(self) -> float:
        """Return the bound on the regret, infinity if no float is large enough."""
        return math.exp(self.log_regret) if self.log_regret < _LARGEST_LOG else math.inf


def giro_bound(means: Means, rounds: int, a: float = 1.0) -> GiroBound:
    """Return the bound of Theorem 2 on the regret of Giro after `rounds` >= 2 rounds.

    Kveton et al. (2019), Theorem 2 (Equation 9), for a > 1 / sqrt(2). The proof covers only integer
    `a`: Theorem 4, on which it rests, needs (2a + 1) s to be an integer for every s. Its count of
    the rounds in b_i starts at s = 1 and so misses the term s = 0 (`counted_pulls_check`).
    """
    arms = _some_suboptimal_arms(means)
    check_rounds(rounds, at_least=2)
    return _bound(arms, math.log(rounds), a)


def cheapest_a(means: Means, rounds: int) -> float:
    """Return the `a` with the smallest bound, before which it falls and after which it rises.

    Since c dominates, it hardly depends on the problem:

    >>> round(cheapest_a([0.7, 0.4], 10_000), 2), round(cheapest_a([0.9, 0.1], 100), 2)
    (6.94, 6.94)
    """
    arms = _some_suboptimal_arms(means)
    check_rounds(rounds, at_least=2)
    minimum = minimize_scalar(
        lambda a: _bound(arms, math.log(rounds), a).log_regret,
        bounds=(0.8, 100.0),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return float(minimum.x)


def log_useful_rounds(means: Means, a: float = 1.0) -> float:
    """Return the logarithm of the number of rounds n from which on the bound is not trivial.

    Before that it is above n times the largest gap, which no policy's regret exceeds.
    """
    arms = _some_suboptimal_arms(means)
    largest = math.log(max(arm.gap for arm in arms))
    return float(
        brentq(
            lambda log_n: _bound(arms, log_n, a).log_regret - largest - log_n,
            math.log(2),  # here 4 gap > 2 gap
            100 + 10 * (log_c(a) - 2 * min(math.log(arm.gap) for arm in arms) + len(arms)),
        )
    )


def b_constant(a: float) -> float:
    """Return b = (2a + 1) / (a (a + 1)), which must be below 2, so a > 1 / sqrt(2)."""
    if not (math.isfinite(a) and a > 1 / math.sqrt(2)):
        raise BadParameter(f"the bound needs a > 1 / sqrt(2) = 0.7071..., got a={a}")
    return (2 * a + 1) / (a * (a + 1))


def log_f(b: float) -> float:
    """Return log f(b) = 8b / (2 - b), the part of c that makes it large (Section 5.3).

    >>> [round(log_f(b_constant(a)), 1) for a in (1, 2, 3)]
    [24.0, 5.7, 3.3]
    """
    if not 0 < b < 2:
        raise BadParameter(f"f(b) is defined for 0 < b < 2, got b={b}")
    return 8 * b / (2 - b)


def log_c(a: float) -> float:
    """Return log c, where c bounds the expected inverse probability of being optimistic.

    Kveton et al. (2019), Theorem 2:
    c = 2 e^2 sqrt(2a + 1) / sqrt(2 pi) f(b) (1 + sqrt(2 pi / (4 - 2b))).
    """
    b = b_constant(a)
    scale = math.log(2) + 2 + 0.5 * math.log((2 * a + 1) / (2 * math.pi))
    return scale + log_f(b) + math.log1p(math.sqrt(2 * math.pi / (4 - 2 * b)))


def counted_pulls_check(rounds: int, gap: float, a: float) -> Check:
    """Return the sum for b_i in the proof of Theorem 2, against the L + 2 it states.

    With L = 8 (2a + 1) / gap^2 log n, it has 1 for each s = 0..floor(L), 1 / n for each larger
    s < n, and 1. It fails unless L >= n - 1.
    """
    large = 8 * (2 * a + 1) / gap**2 * math.log(rounds)
    small_pulls = min(math.floor(large) + 1, rounds)
    proved = small_pulls + (rounds - small_pulls) / rounds + 1
    return check_at_most("counted pulls", proved, large + 2, rounds=rounds, gap=gap, a=a)


def _some_suboptimal_arms(means: Means) -> list[SuboptimalArm]:
    arms = suboptimal_arms(means)
    if not arms:
        raise BadParameter(f"a bound on the regret needs two arms or more, got means={means!r}")
    return arms


def _bound(arms: list[SuboptimalArm], log_rounds: float, a: float) -> GiroBound:
    b, terms = b_constant(a), []
    for arm in arms:
        needed = 8 * (2 * a + 1) / arm.gap**2 * log_rounds
        log_a = float(np.logaddexp(math.log(2 * needed) + log_c(a), math.log(2)))
        terms.append(ArmBound(arm=arm.arm, gap=arm.gap, log_a=log_a, b=needed + 2))
    return GiroBound(b=b, log_f=log_f(b), log_c=log_c(a), arms=tuple(terms))


# -- the report: term by term, against `a` and against the rounds ----------------------------------

_HIGHEST = 40  # powers of ten drawn; the bound is unlimited as `a` nears 1 / sqrt(2)


def bound_report(means: Sequence[float], rounds: int, a: float) -> Report:
    """Return the terms of Theorem 2 for one problem, and the bound around it."""
    bound = giro_bound(means, rounds, a)
    return Report(
        command=f"giro theory bound --means {listed(means)} --rounds {rounds} --a {text(a)}",
        tables=(_constants(bound), _arms(bound, means, rounds)),
        statements=_statements(bound, means, rounds, a),
        draw=partial(_draw, means, rounds, a),
    )


def _constants(bound: GiroBound) -> Table:
    columns = (
        Column("term", show=text),
        Column("value", show=from_log),
        Column("log", "as a power", power),
        Column("formula", show=text),
    )
    c = "2 e^2 sqrt(2a + 1) / sqrt(2 pi) f(b) (1 + sqrt(2 pi / (4 - 2b)))"
    records = [
        {"term": term, "log": log, "formula": formula, "value": log}
        for term, log, formula in (
            ("b", math.log(bound.b), "(2a + 1) / (a (a + 1))"),
            ("f(b)", bound.log_f, "exp(8b / (2 - b))"),
            ("c", bound.log_c, c),
        )
    ]
    return Table("constants", "Constants of Theorem 2", columns, records)


def _arms(bound: GiroBound, means: Sequence[float], rounds: int) -> Table:
    columns = (
        Column("arm", show=text),
        Column("mean", show=text),
        Column("gap", show=digits(4)),
        Column("log_a", "a_i <=", from_log),
        Column("b", "b_i <=", fixed(1)),
        Column("log_pulls", "pulls <=", from_log),
        Column("log_regret", "regret <=", from_log),
    )
    rows: list[tuple[object, ...]] = []
    for arm in bound.arms:
        terms = (arm.log_a, arm.b, arm.log_pulls, arm.log_regret)
        rows.append((str(arm.arm), float(means[arm.arm]), arm.gap, *terms))
    rows.append(("all", *[math.nan] * 5, bound.log_regret))
    title = f"Suboptimal arms, counted from 0, after {rounds} rounds"
    return table("arms", title, columns, rows)


def _statements(
    bound: GiroBound, means: Sequence[float], rounds: int, a: float
) -> tuple[Verdict, ...]:
    trivial = rounds * _largest_gap(means)
    best = cheapest_a(means, rounds)
    logs = [giro_bound(means, rounds, value).log_regret for value in (1, best, 50)]
    first, lowest, last = map(from_log, logs)
    check = counted_pulls_check(rounds, bound.arms[0].gap, a)
    why = "" if check.holds else ": the pull s = 0 is left out, + 3 covers it"
    return (
        Verdict(
            "the bound says more than regret <= rounds x largest gap",
            bound.log_regret < math.log(trivial),
            f"{from_log(bound.log_regret)} against {trivial:g}; it does from "
            f"{from_log(log_useful_rounds(means, a))} rounds on",
        ),
        Verdict(
            "Section 5.3: the bound increases with a",
            logs[0] < logs[1],
            f"{first} at a = 1, falls to {lowest} at a = {best:.2f}, rises to {last} at a = 50",
        ),
        Verdict(
            "Appendix B: the proof adds up to b_i <= (8 (2a + 1) / gap^2) log n + 2",
            check.holds,
            f"it adds up to {check.lhs:.2f}, printed is {check.rhs:.2f}{why}",
        ),
    )


def _draw(means: Sequence[float], rounds: int, a: float) -> "Figure":
    """Return the bound against `a`, and against the rounds for a few `a`, in powers of ten."""
    best = cheapest_a(means, rounds)
    with panels(2) as (figure, (left, right)):
        _draw_against_a(left, means, rounds, best)
        _draw_against_rounds(right, means, sorted({float(a), 2.0, 3.0, round(best, 2)}))
    return figure


def _draw_against_a(panel: "Axes", means: Sequence[float], rounds: int, best: float) -> None:
    edge = 1 / math.sqrt(2)
    grid = np.concatenate([edge + np.geomspace(1e-3, 0.1, 60), np.geomspace(0.81, 50, 200)])
    logs = [giro_bound(means, rounds, value).log_regret for value in grid]
    panel.plot(grid, log10(logs), label="Theorem 2", **look(0))
    lowest = float(log10(giro_bound(means, rounds, best).log_regret))
    panel.plot([best], [lowest], "o", color=look(0)["color"], markersize=4.5)
    label = f"smallest at a = {best:.2f}"
    panel.annotate(label, (best, lowest), (0, 9), textcoords="offset points", ha="center")
    trivial = math.log(rounds * _largest_gap(means))
    panel.axhline(float(log10(trivial)), label="n times largest gap", **look(1))
    panel.axvline(0.5**0.5, color=GREY, linewidth=0.8)
    panel.set_xscale("log")
    ticks = {0.5**0.5: r"$1/\sqrt{2}$"} | {a: str(a) for a in (1, 2, 3, 5, 10, 20, 50)}
    panel.set_xticks(list(ticks), list(ticks.values()))
    panel.minorticks_off()
    panel.set_xlim(0.6, 50)
    panel.set_ylim(0, _HIGHEST)
    powers_of_ten(panel)
    panel.set_xlabel("a, pseudo rewards of each kind per pull")
    panel.set_ylabel("bound on the regret")
    panel.set_title(f"after n = {rounds:,} rounds")
    panel.legend(loc="upper right")


def _draw_against_rounds(panel: "Axes", means: Sequence[float], a_values: Sequence[float]) -> None:
    n = [int(x) for x in np.geomspace(2, 10**6, 60)]
    curves = [log10([giro_bound(means, k, a).log_regret for k in n]) for a in a_values]
    trivial = log10([math.log(k * _largest_gap(means)) for k in n])
    for i, (a, curve) in enumerate(zip(a_values, curves, strict=True)):
        panel.plot(n, curve, label=f"a = {text(a)}", **look(i if i == 0 else i + 1))
    panel.plot(n, trivial, label="n times largest gap", **look(1))
    panel.set_xscale("log")
    panel.margins(x=0)
    panel.set_ylim(bottom=0, top=1.5 * max(float(curve.max()) for curve in [*curves, trivial]))
    powers_of_ten(panel)
    panel.set_xlabel("rounds n")
    panel.set_title("Theorem 2 against the rounds")
    panel.legend(loc="upper left", ncols=2)


def _largest_gap(means: Sequence[float]) -> float:
    return max(arm.gap for arm in suboptimal_arms(means))
