"""Theorem 2 term by term, and how its bound depends on `a` and on the rounds."""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from giro.paper.figures.bound import AgainstA, bound_figure
from giro.paper.figures.panels import Curve
from giro.paper.reports.formats import digits, fixed, from_log, listed, power, text
from giro.paper.reports.report import Field, Record, Report, Statement, Table
from giro.paper.theory.bound import GiroBound, cheapest_a, giro_bound, log_useful_rounds
from giro.paper.theory.gaps import suboptimal_arms
from giro.paper.theory.proof_steps import counted_pulls_check

_A = (0.75, 0.8, 1, 2, 3, 5, 7, 10, 20, 50)
_ROUNDS = tuple(10**k for k in range(1, 7))


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
        statements=(
            _about_size(bound, means, rounds, a),
            _about_a(means, rounds),
            _about_b(bound, rounds, a),
        ),
        draw=partial(_draw, means, rounds, a),
    )


def _constants(bound: GiroBound) -> Table:
    rows: list[Record] = [
        {"term": "b", "log": math.log(bound.b), "formula": "(2a + 1) / (a (a + 1))"},
        {"term": "f(b)", "log": bound.log_f, "formula": "exp(8b / (2 - b))"},
        {
            "term": "c",
            "log": bound.log_c,
            "formula": "2 e^2 sqrt(2a + 1) / sqrt(2 pi) f(b) (1 + sqrt(2 pi / (4 - 2b)))",
        },
    ]
    fields = (
        Field("term", "term", text),
        Field("value", "value", from_log),
        Field("log", "as a power", power),
        Field("formula", "formula", text),
    )
    records = [{**row, "value": row["log"]} for row in rows]
    return Table("constants", "Constants of Theorem 2", fields, records)


def _arms(bound: GiroBound, means: Sequence[float], rounds: int) -> Table:
    fields = (
        Field("arm", "arm", text),
        Field("mean", "mean", text),
        Field("gap", "gap", digits(4)),
        Field("log_a", "a_i <=", from_log),
        Field("b", "b_i <=", fixed(1)),
        Field("log_pulls", "pulls <=", from_log),
        Field("log_regret", "regret <=", from_log),
    )
    records: list[Record] = [
        {
            "arm": str(arm.arm),
            "mean": float(means[arm.arm]),
            "gap": arm.gap,
            "log_a": arm.log_a,
            "b": arm.b,
            "log_pulls": arm.log_pulls,
            "log_regret": arm.log_pulls + math.log(arm.gap),
        }
        for arm in bound.arms
    ]
    nothing = dict.fromkeys(("mean", "gap", "log_a", "b", "log_pulls"), math.nan)
    total: Record = {"arm": "all", **nothing, "log_regret": bound.log_regret}
    title = f"Suboptimal arms, counted from 0, after {rounds} rounds"
    return Table("arms", title, fields, [*records, total])


def _against_a(means: Sequence[float], rounds: int, a: float) -> Table:
    fields = (
        Field("a", "a", digits(4)),
        Field("log_c", "c", power),
        Field("log_regret", "regret <=", from_log),
    )
    values = sorted({*_A, float(a), round(cheapest_a(means, rounds), 2)})
    bounds = [giro_bound(means, rounds, value) for value in values]
    records: list[Record] = [
        {"a": value, "log_c": bound.log_c, "log_regret": bound.log_regret}
        for value, bound in zip(values, bounds, strict=True)
    ]
    return Table("against-a", f"The bound against a, after {rounds} rounds", fields, records)


def _against_rounds(means: Sequence[float], rounds: int, a: float) -> Table:
    fields = (
        Field("rounds", "rounds", text),
        Field("log_regret", "regret <=", from_log),
        Field("trivial", "rounds x largest gap", digits(6)),
    )
    gap = _largest_gap(means)
    records: list[Record] = [
        {"rounds": n, "log_regret": giro_bound(means, n, a).log_regret, "trivial": n * gap}
        for n in sorted({*_ROUNDS, rounds})
    ]
    return Table("against-rounds", f"The bound against the rounds, a = {text(a)}", fields, records)


def _about_size(bound: GiroBound, means: Sequence[float], rounds: int, a: float) -> Statement:
    trivial = rounds * _largest_gap(means)
    return Statement(
        "the bound says more than regret <= rounds x largest gap",
        bound.log_regret < math.log(trivial),
        f"{from_log(bound.log_regret)} against {trivial:g}; it does from "
        f"{from_log(log_useful_rounds(means, a))} rounds on",
    )


def _about_a(means: Sequence[float], rounds: int) -> Statement:
    best = cheapest_a(means, rounds)
    logs = [giro_bound(means, rounds, a).log_regret for a in (1, best, 50)]
    first, lowest, last = map(from_log, logs)
    return Statement(
        "Section 5.3: the bound increases with a",
        logs[0] < logs[1],
        f"{first} at a = 1, falls to {lowest} at a = {best:.2f}, rises to {last} at a = 50",
    )


def _about_b(bound: GiroBound, rounds: int, a: float) -> Statement:
    check = counted_pulls_check(rounds, bound.arms[0].gap, a)
    why = "" if check.holds else ": the pull s = 0 is left out, + 3 covers it"
    return Statement(
        "Appendix B: the proof adds up to b_i <= (8 (2a + 1) / gap^2) log n + 2",
        check.holds,
        f"it adds up to {check.lhs:.2f}, printed is {check.rhs:.2f}{why}",
    )


def _draw(means: Sequence[float], rounds: int, a: float) -> Figure:
    grid = np.concatenate(
        [1 / math.sqrt(2) + np.geomspace(1e-3, 0.1, 60), np.geomspace(0.81, 50, 200)]
    )
    logs = [giro_bound(means, rounds, value).log_regret for value in grid]
    best = cheapest_a(means, rounds)
    gap, n = _largest_gap(means), [int(x) for x in np.geomspace(2, 10**6, 60)]
    curves = [
        Curve(f"a = {text(value)}", n, [giro_bound(means, k, value).log_regret for k in n])
        for value in sorted({float(a), 2.0, 3.0, round(best, 2)})
    ]
    return bound_figure(
        AgainstA(
            Curve("Theorem 2", grid, logs),
            (best, giro_bound(means, rounds, best).log_regret),
            math.log(rounds * gap),
            rounds,
        ),
        curves,
        Curve("n times largest gap", n, [math.log(k * gap) for k in n]),
    )


def _largest_gap(means: Sequence[float]) -> float:
    return max(arm.gap for arm in suboptimal_arms(means))
