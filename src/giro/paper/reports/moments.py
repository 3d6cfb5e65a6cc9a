"""Section 4.2: the moments, the condition on variances, and where Equation 7 fails."""

import math
from collections.abc import Sequence
from functools import partial
from itertools import groupby

import numpy as np
from matplotlib.figure import Figure

from giro.errors import BadParameter
from giro.paper.figures.moments import Failures, moments_figure
from giro.paper.reports.formats import digits, fixed, text, yes
from giro.paper.reports.report import Field, Record, Report, Statement, Table
from giro.paper.theory.checks import Check
from giro.paper.theory.informal_optimism import (
    informal_optimism_checks,
    smallest_optimistic_a,
    variance_condition,
)
from giro.paper.theory.moments import moment_checks
from giro.paper.theory.pseudo import is_whole

_A = (0.1, 0.25, 0.3, 1 / 3, 1 / 2, 1.0)
_GRID_A = (1 / 3, 1.0)
_MEANS = tuple(float(mean) for mean in np.arange(1, 50) / 50)
_RARE_PULLS = (3, 30, 300)
_FORMULAS = {
    "history mean": "(mean + a) s",
    "history variance": "mean (1 - mean) s",
    "sample mean": "v",
    "sample variance": "v (1 - v / (alpha s))",
    "value mean": "(mean + a) / alpha",
    "value variance": "total variance / (alpha s)^2",
    "smallest variance": "a (a + 1) / (alpha^3 s)",
}


def moments_report(s: int, mean: float, a: float, *, most_pulls: int) -> Report:
    """Return the moments after `s` pulls, and Equation 7 for 1..most_pulls pulls."""
    if most_pulls < 1:
        raise BadParameter(f"most-pulls must be >= 1, got {most_pulls}")
    checks = moment_checks(s, mean, a)
    grids = {each: _grid(each, most_pulls) for each in sorted({*_GRID_A, a})}
    grids = {each: grid for each, grid in grids.items() if grid}
    rare = [_rare(pulls, each) for each in _GRID_A for pulls in _RARE_PULLS]
    return Report(
        command=(
            f"giro theory moments --s {s} --mean {text(mean)} --a {text(a)} "
            f"--most-pulls {most_pulls}"
        ),
        tables=(
            _moments(checks, s, mean, a),
            _condition(a),
            _equation_7(grids, most_pulls),
            _rare_table(rare),
        ),
        statements=(*_about_moments(checks), _about_condition(), *_about_equation_7(grids, rare)),
        draw=partial(_draw, grids),
    )


def _moments(checks: Sequence[Check], s: int, mean: float, a: float) -> Table:
    fields = (
        Field("quantity", "quantity", text),
        Field("formula", "formula", text),
        Field("by_formula", "by formula", digits(6)),
        Field("summed", "summed", digits(6)),
        Field("cases", "cases", text),
        Field("largest_error", "largest difference", digits(1)),
    )
    by_claim = {claim: [c for c in checks if c.claim == claim] for claim in _FORMULAS}
    records: list[Record] = [
        {
            "quantity": claim,
            "formula": _FORMULAS[claim],
            "by_formula": mine[0].rhs,
            "summed": mine[0].lhs,
            "cases": len(mine),
            "largest_error": max((abs(c.lhs - c.rhs) for c in mine), default=math.nan)
            if claim != "smallest variance"
            else math.nan,
        }
        for claim, mine in by_claim.items()
    ]
    title = (
        f"Moments after s = {s} pulls of an arm with mean {text(mean)}, a = {text(a)}; "
        "samples: v = a s shown, all v compared"
    )
    return Table("moments", title, fields, records)


def _condition(a: float) -> Table:
    fields = (
        Field("a", "a", fixed(4)),
        Field("ratio", "a (a + 1) / (2a + 1)", fixed(4)),
        Field("enough", ">= 1/4", yes),
    )
    values = sorted({*_A, smallest_optimistic_a(), a})
    records: list[Record] = [
        {"a": v, "ratio": v * (v + 1) / (2 * v + 1), "enough": variance_condition(v + 1e-12)}
        for v in values
    ]
    return Table("condition", "Condition for normal values to be optimistic", fields, records)


def _grid(a: float, most_pulls: int) -> list[Check]:
    pulls = [s for s in range(1, most_pulls + 1) if is_whole(a * s)]
    return [c for s in pulls for mean in _MEANS for c in informal_optimism_checks(s, mean, a)]


def _equation_7(grids: dict[float, list[Check]], most_pulls: int) -> Table:
    fields = (
        Field("a", "a", text),
        Field("cases", "histories", text),
        Field("failures", "failures", text),
        Field("last_s", "last s", text),
        Field("last_s_middle", "last s, mean >= 0.1", text),
        Field("s", "worst: s", text),
        Field("mean", "mean", text),
        Field("x", "ones", text),
        Field("optimism", "P(optimistic)", fixed(4)),
        Field("history", "P(history)", fixed(4)),
    )
    title = f"Equation 7, P(optimistic | history) >= P(history), up to {most_pulls} pulls"
    return Table("equation-7", title, fields, [_summary(a, grid) for a, grid in grids.items()])


def _summary(a: float, grid: Sequence[Check]) -> Record:
    failures = [check for check in grid if not check.holds]
    middle = [check for check in failures if check.at["mean"] >= 0.1]
    worst = min(grid, key=lambda check: check.margin)
    return {
        "a": a,
        "cases": len(grid),
        "failures": len(failures),
        "last_s": max((int(check.at["s"]) for check in failures), default=0),
        "last_s_middle": max((int(check.at["s"]) for check in middle), default=0),
        "s": int(worst.at["s"]),
        "mean": worst.at["mean"],
        "x": int(worst.at["x"]),
        "optimism": math.exp(worst.lhs),
        "history": math.exp(worst.rhs),
    }


def _rare(s: int, a: float) -> Check:
    """Return Equation 7 for the history without a one, of an arm that rarely gives one."""
    return informal_optimism_checks(s, 0.9 * (1 - 0.5 ** (1 / s)), a)[0]


def _rare_table(rare: Sequence[Check]) -> Table:
    fields = (
        Field("a", "a", text),
        Field("s", "s", text),
        Field("mean", "mean", fixed(5)),
        Field("optimism", "P(optimistic)", fixed(4)),
        Field("history", "P(history)", fixed(4)),
        Field("holds", "holds", yes),
    )
    records: list[Record] = [
        {
            "a": check.at["a"],
            "s": int(check.at["s"]),
            "mean": check.at["mean"],
            "optimism": math.exp(check.lhs),
            "history": math.exp(check.rhs),
            "holds": check.holds,
        }
        for check in rare
    ]
    title = "Equation 7 for the history without a one, mean = 0.9 (1 - 2^(-1/s))"
    return Table("rare-rewards", title, fields, records)


def _about_moments(checks: Sequence[Check]) -> tuple[Statement, Statement]:
    exact = [check for check in checks if check.claim != "smallest variance"]
    floor = [check for check in checks if check.claim == "smallest variance"]
    error = max(abs(check.lhs - check.rhs) for check in exact)
    return (
        Statement(
            "Section 4.2: means and variances of history and sample",
            all(check.holds for check in exact),
            f"{len(exact)} compared with sums over all outcomes, largest difference {error:.0e}",
        ),
        Statement(
            "Section 4.2: the value's variance given the history >= a (a + 1) / (alpha^3 s)",
            all(check.holds for check in floor),
            f"{len(floor)} histories, smallest ratio "
            f"{min((c.lhs / c.rhs for c in floor if c.rhs > 0), default=math.nan):.4f}",
        ),
    )


def _about_condition() -> Statement:
    root = smallest_optimistic_a()
    return Statement(
        "Section 4.2: a (a + 1) / (2a + 1) >= 1/4 for roughly a >= 1/3",
        variance_condition(1 / 3),
        f"exactly for a >= (sqrt(5) - 1) / 4 = {root:.6f}",
    )


def _about_equation_7(
    grids: dict[float, list[Check]], rare: Sequence[Check]
) -> tuple[Statement, Statement]:
    checks = [check for grid in grids.values() for check in grid]
    failures = sum(not check.holds for check in checks)
    largest = max(rare, key=lambda check: check.at["s"])
    return (
        Statement(
            "Equation 7 for every unfavourable history",
            failures == 0,
            f"{failures} of {len(checks)} histories fail",
        ),
        Statement(
            "Equation 7 once there are enough pulls, whatever the mean",
            all(check.holds for check in rare),
            f"fails after {largest.at['s']:.0f} pulls of an arm with mean "
            f"{largest.at['mean']:.5f}: P(history) = {math.exp(largest.rhs):.4f}, "
            f"P(optimistic) = {math.exp(largest.lhs):.4f}",
        ),
    )


def _draw(grids: dict[float, list[Check]]) -> Figure:
    shown = list(grids.items())[:2]
    return moments_figure(smallest_optimistic_a(), [_failures(a, grid) for a, grid in shown])


def _failures(a: float, grid: Sequence[Check]) -> Failures:
    pulls = sorted({int(check.at["s"]) for check in grid})
    fails = np.zeros((len(_MEANS), len(pulls)), dtype=bool)
    for (s, mean), checks in groupby(grid, key=lambda check: (check.at["s"], check.at["mean"])):
        fails[_MEANS.index(mean), pulls.index(int(s))] = not all(c.holds for c in checks)
    return Failures(pulls, _MEANS, fails, text(a))
