"""Theorem 2 term by term, and how its bound depends on `a` and on the rounds."""

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from giro.paper.claims import Verdict
from giro.paper.theory.bound import (
    GiroBound,
    cheapest_a,
    counted_pulls_check,
    giro_bound,
    log_useful_rounds,
)
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
from giro.paper.theory.terms import suboptimal_arms
from giro.tables import Column, fixed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_A = (0.75, 0.8, 1, 2, 3, 5, 7, 10, 20, 50)
_ROUNDS = tuple(10**k for k in range(1, 7))
_HIGHEST = 40  # powers of ten drawn; the bound has no end as `a` nears 1 / sqrt(2)


def bound_report(means: Sequence[float], rounds: int, a: float) -> Report:
    """Return the terms of Theorem 2 for one problem, and the bound around it."""
    bound = giro_bound(means, rounds, a)
    return Report(
        command=f"giro theory bound --means {listed(means)} --rounds {rounds} --a {text(a)}",
        tables=(
            _constants(bound),
            _arms(bound, means, rounds),
            _against_a(means, rounds, a),
            _against_rounds(means, rounds, a),
        ),
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


def _against_a(means: Sequence[float], rounds: int, a: float) -> Table:
    columns = (
        Column("a", show=digits(4)),
        Column("log_c", "c", power),
        Column("log_regret", "regret <=", from_log),
    )
    values = sorted({*_A, float(a), round(cheapest_a(means, rounds), 2)})
    bounds = [giro_bound(means, rounds, value) for value in values]
    rows = [(v, bound.log_c, bound.log_regret) for v, bound in zip(values, bounds, strict=True)]
    return table("against-a", f"The bound against a, after {rounds} rounds", columns, rows)


def _against_rounds(means: Sequence[float], rounds: int, a: float) -> Table:
    columns = (
        Column("rounds", show=text),
        Column("log_regret", "regret <=", from_log),
        Column("trivial", "rounds x largest gap", digits(6)),
    )
    gap = _largest_gap(means)
    rows = [(n, giro_bound(means, n, a).log_regret, n * gap) for n in sorted({*_ROUNDS, rounds})]
    return table("against-rounds", f"The bound against the rounds, a = {text(a)}", columns, rows)


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
