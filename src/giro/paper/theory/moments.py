"""Moments of a history with pseudo rewards and of its bootstrap sample.

Kveton et al. (2019), Section 4.2. Everywhere `s` is the number of pulls, `a` the number of pseudo
rewards of each kind per pull, and alpha = 2a + 1. V counts the ones in the history, U those in the
sample.
"""

import math
from collections.abc import Sequence
from functools import partial
from itertools import groupby, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from giro.checks import check, whole
from giro.errors import BadParameter
from giro.paper.claims import Verdict
from giro.paper.theory.optimism import (
    informal_optimism_checks,
    smallest_optimistic_a,
    variance_condition,
)
from giro.paper.theory.report import Report, Table, digits, look, panels, table, text
from giro.paper.theory.terms import (
    Check,
    Floats,
    check_at_least,
    check_equals,
    check_trials,
    is_whole,
    log_binomial,
    whole_pseudo_count,
)
from giro.tables import Column, fixed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Moments(NamedTuple):
    """The mean and the variance of a random number."""

    mean: float
    variance: float


def history_moments(s: int, mean: float, a: float) -> Moments:
    """Return the moments of V: (mean + a) s and mean (1 - mean) s (Equation 4)."""
    check_trials(s, mean)
    return Moments((mean + a) * s, mean * (1 - mean) * s)


def bootstrap_moments(s: int, v: float, a: float) -> Moments:
    """Return the moments of U given V = v: v and v (1 - v / (alpha s)) (Equations 5 and 6)."""
    if not 0 <= v <= (2 * a + 1) * s:
        raise BadParameter(f"a history of {(2 * a + 1) * s} rewards cannot have v={v} ones")
    return Moments(v, v * (1 - v / ((2 * a + 1) * s)))


def conditional_value_moments(s: int, v: float, a: float) -> Moments:
    """Return the moments of the arm's value U / (alpha s) given V = v."""
    return _scaled(bootstrap_moments(s, v, a), (2 * a + 1) * s)


def value_moments(s: int, mean: float, a: float) -> Moments:
    """Return the moments of the arm's value U / (alpha s) over histories and samples.

    The variance of U is E[V (1 - V / (alpha s))] + var V, by the law of total variance. The paper
    gives only the two parts.
    """
    history = history_moments(s, mean, a)
    length = (2 * a + 1) * s
    within = history.mean - (history.variance + history.mean**2) / length
    return _scaled(Moments(history.mean, within + history.variance), length)


def smallest_value_variance(s: int, a: float) -> float:
    """Return a (a + 1) / (alpha^3 s), the smallest variance of the value given V."""
    check_trials(s, 0.5)
    return a * (a + 1) / ((2 * a + 1) ** 3 * s)


def moment_checks(s: int, mean: float, a: float) -> list[Check]:
    """Compare every formula above with the sum over all outcomes.

    a s must be an integer. The cost is one term for each history and sample.
    """
    check_trials(s, mean)
    k = whole_pseudo_count(a, s)
    v, weights = k + np.arange(s + 1), np.exp(log_binomial(np.arange(s + 1), s, mean))
    length, floor = s + 2 * k, smallest_value_variance(s, a)
    outcomes = np.arange(length + 1)
    at = {"s": s, "mean": mean, "a": a}
    checks = _both("history", _summed(weights, v), history_moments(s, mean, a), at)
    samples = []
    for ones in v.tolist():
        chances = np.exp(log_binomial(outcomes, length, ones / length))
        samples.append(_summed(chances, outcomes))
        checks += _both("sample", samples[-1], bootstrap_moments(s, ones, a), {**at, "v": ones})
        variance = conditional_value_moments(s, ones, a).variance
        checks.append(check_at_least("smallest variance", variance, floor, s=s, a=a, v=ones))
    total_mean = float(weights @ np.array([sample.mean for sample in samples]))
    squares = np.array([sample.variance + sample.mean**2 for sample in samples])
    mixed = Moments(total_mean, float(weights @ squares) - total_mean**2)
    return checks + _both("value", _scaled(mixed, length), value_moments(s, mean, a), at)


def _both(claim: str, summed: Moments, formula: Moments, at: dict[str, float]) -> list[Check]:
    return [
        check_equals(f"{claim} mean", summed.mean, formula.mean, **at),
        check_equals(f"{claim} variance", summed.variance, formula.variance, **at),
    ]


def _summed(weights: Floats, outcomes: NDArray[np.int64]) -> Moments:
    mean = float(weights @ outcomes)
    return Moments(mean, float(weights @ (outcomes - mean) ** 2))


def _scaled(moments: Moments, length: float) -> Moments:
    return Moments(moments.mean / length, moments.variance / length**2)


# -- the report: the moments, the condition on variances, and where Equation 7 fails ---------------

_GRID_A = (1 / 3, 1.0)
_MEANS = tuple(float(mean) for mean in np.arange(1, 50) / 50)
_FLOOR = "smallest variance"
_FORMULAS = {
    "history mean": "(mean + a) s",
    "history variance": "mean (1 - mean) s",
    "sample mean": "v",
    "sample variance": "v (1 - v / (alpha s))",
    "value mean": "(mean + a) / alpha",
    "value variance": "total variance / (alpha s)^2",
    _FLOOR: "a (a + 1) / (alpha^3 s)",
}


def moments_report(s: int, mean: float, a: float, *, most_pulls: int) -> Report:
    """Return the moments after `s` pulls, and Equation 7 for 1..most_pulls pulls."""
    check("Equation 7", whole(1), **{"most-pulls": most_pulls})
    checks = moment_checks(s, mean, a)
    grids = {}
    for each in sorted({*_GRID_A, a}):
        pulls = [k for k in range(1, most_pulls + 1) if is_whole(each * k)]
        if pulls:
            places = product(pulls, _MEANS)
            grids[each] = [c for k, m in places for c in informal_optimism_checks(k, m, each)]
    return Report(
        command=(
            f"giro theory moments --s {s} --mean {text(mean)} --a {text(a)} "
            f"--most-pulls {most_pulls}"
        ),
        tables=(_moments(checks, s, mean, a), _equation_7(grids, most_pulls)),
        statements=_statements(checks, grids),
        draw=partial(_draw, grids),
    )


def _moments(checks: Sequence[Check], s: int, mean: float, a: float) -> Table:
    columns = (
        Column("quantity", show=text),
        Column("formula", show=text),
        Column("by_formula", "by formula", digits(6)),
        Column("summed", show=digits(6)),
        Column("cases", show=text),
        Column("largest_error", "largest difference", digits(1)),
    )
    rows = []
    for claim, formula in _FORMULAS.items():
        group = [check for check in checks if check.claim == claim]
        error = max(abs(check.lhs - check.rhs) for check in group)
        if claim == _FLOOR:
            error = math.nan
        rows.append((claim, formula, group[0].rhs, group[0].lhs, len(group), error))
    title = (
        f"Moments after s = {s} pulls of an arm with mean {text(mean)}, a = {text(a)}; "
        "samples: v = a s shown, all v compared"
    )
    return table("moments", title, columns, rows)


def _equation_7(grids: dict[float, list[Check]], most_pulls: int) -> Table:
    columns = (
        Column("a", show=text),
        Column("cases", "histories", text),
        Column("failures", show=text),
        Column("last_s", "last s", text),
        Column("last_s_middle", "last s, mean >= 0.1", text),
        Column("s", "worst: s", text),
        Column("mean", show=text),
        Column("x", "ones", text),
        Column("optimism", "P(optimistic)", fixed(4)),
        Column("history", "P(history)", fixed(4)),
    )
    rows = []
    for a, grid in grids.items():
        failures = [check for check in grid if not check.holds]
        last = max((int(check.at["s"]) for check in failures), default=0)
        middle = [int(check.at["s"]) for check in failures if check.at["mean"] >= 0.1]
        worst = min(grid, key=lambda check: check.margin)
        where = (int(worst.at["s"]), worst.at["mean"], int(worst.at["x"]))
        sides = (math.exp(worst.lhs), math.exp(worst.rhs))
        rows.append((a, len(grid), len(failures), last, max(middle, default=0), *where, *sides))
    title = f"Equation 7, P(optimistic | history) >= P(history), up to {most_pulls} pulls"
    return table("equation-7", title, columns, rows)


def _statements(checks: Sequence[Check], grids: dict[float, list[Check]]) -> tuple[Verdict, ...]:
    exact = [check for check in checks if check.claim != _FLOOR]
    floor = [check for check in checks if check.claim == _FLOOR]
    error = max(abs(check.lhs - check.rhs) for check in exact)
    ratio = min((check.lhs / check.rhs for check in floor if check.rhs > 0), default=math.nan)
    histories = [check for grid in grids.values() for check in grid]
    failures = sum(not check.holds for check in histories)
    return (
        Verdict(
            "Section 4.2: means and variances of history and sample",
            all(check.holds for check in exact),
            f"{len(exact)} compared with sums over all outcomes, largest difference {error:.0e}",
        ),
        Verdict(
            "Section 4.2: the value's variance given the history >= a (a + 1) / (alpha^3 s)",
            all(check.holds for check in floor),
            f"{len(floor)} histories, smallest ratio {ratio:.4f}",
        ),
        Verdict(
            "Section 4.2: a (a + 1) / (2a + 1) >= 1/4 for roughly a >= 1/3",
            variance_condition(1 / 3),
            f"exactly for a >= (sqrt(5) - 1) / 4 = {smallest_optimistic_a():.6f}",
        ),
        Verdict(
            "Equation 7 for every unfavourable history",
            failures == 0,
            f"{failures} of {len(histories)} histories fail",
        ),
    )


def _draw(grids: dict[float, list[Check]]) -> "Figure":
    """Draw a map of failures for each `a`."""
    from matplotlib.lines import Line2D  # noqa: PLC0415  # quick start
    from matplotlib.patches import Patch  # noqa: PLC0415  # quick start

    shown = list(grids.items())[:2]
    with panels(len(shown)) as (figure, axes):
        for panel, (a, grid) in zip(axes, shown, strict=True):
            _draw_failures(panel, a, grid)
        axes[0].set_ylabel("mean of the arm")
        axes[0].legend(
            handles=[
                Patch(color=look(1)["color"], alpha=0.55, label="fails for some history"),
                Line2D([], [], label=r"fails below $1 - 2^{-1/s}$, for any a", **look(0)),
            ],
            loc="upper right",
            frameon=True,
            framealpha=0.9,
            edgecolor="none",
        )
    return figure


def _draw_failures(panel: "Axes", a: float, grid: Sequence[Check]) -> None:
    """Draw where Equation 7 fails for some history, [mean, s]."""
    from matplotlib.colors import ListedColormap  # noqa: PLC0415  # quick start

    pulls = sorted({int(check.at["s"]) for check in grid})
    fails = np.zeros((len(_MEANS), len(pulls)), dtype=bool)
    for (s, mean), checks in groupby(grid, key=lambda check: (check.at["s"], check.at["mean"])):
        fails[_MEANS.index(mean), pulls.index(int(s))] = not all(c.holds for c in checks)
    gap = (pulls[1] - pulls[0]) / 2 if len(pulls) > 1 else 0.5
    step = (_MEANS[1] - _MEANS[0]) / 2
    panel.pcolormesh(
        np.append(np.array(pulls) - gap, pulls[-1] + gap),
        np.append(np.array(_MEANS) - step, _MEANS[-1] + step),
        np.where(fails, 1.0, np.nan),
        cmap=ListedColormap([look(1)["color"]]),
        alpha=0.55,
        rasterized=True,
    )
    x = np.linspace(pulls[0] - gap, pulls[-1] + gap, 200)
    panel.plot(x, 1 - 0.5 ** (1 / np.maximum(x, 0.5)), **look(0))
    panel.set_xlim(x[0], x[-1])
    panel.set_ylim(0, 1)
    panel.set_xlabel("pulls s")
    panel.set_title(f"where Equation 7 fails, a = {text(a)}")
