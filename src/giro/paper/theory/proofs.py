"""The lemmas of Appendix C in numbers (Kveton et al., 2019).

Each function returns one check for each case, so that a lemma can be tried on a grid and its
failures listed. We found:

- Lemma 2 fails only for p = 0, where "the smallest integer" i_0 is -1 and the bound is
  e^-2 f(0), while the sum is f(0). With i_0 >= 0 it holds.
- Lemma 3 holds wherever we tried, though its proof also uses Lemma 4 at y = m for small `a`.
- Lemma 4 fails for x = 0 and x = n, where its right side is infinite. Stirling's upper bound
  in its proof is 0 at k = 0, while 0! = 1.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binom

from giro.checks import LEVEL, POSITIVE, check, whole
from giro.paper.claims import Verdict
from giro.paper.theory.optimism import log_optimism
from giro.paper.theory.report import GREY, Report, Table, digits, look, panels, table, text
from giro.paper.theory.terms import (
    Check,
    check_at_least,
    check_at_most,
    check_trials,
    is_whole,
    log_binomial,
)
from giro.tables import Column

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOG_SCALE = 0.5 * math.log(2 * math.pi) - 2  # log of sqrt(2 pi) / e^2


# -- lemmas of Appendix C --------------------------------------------------------------------------


def last_interval(n: int, p: float) -> int:
    """Return i_0 of Lemma 2, the smallest integer such that (i_0 + 1) sqrt(n) >= p n.

    It is -1 for p = 0.
    """
    guess = math.ceil(p * math.sqrt(n)) - 1
    return min(i for i in (guess - 1, guess, guess + 1) if (i + 1) * math.sqrt(n) >= p * n)


def history_bound(n: int, p: float, f: Callable[[float], float], *, last: int) -> float:
    """Return the right side of Lemma 2 for a decreasing function f, with i_0 = last."""
    terms = (math.exp(-2 * i**2) * f(p * n - (i + 1) * math.sqrt(n)) for i in range(last))
    return sum(terms) + math.exp(-2 * last**2) * f(0)


def history_checks(n: int, p: float) -> list[Check]:
    """Return Lemma 2 for every step function f(x) = 1{x <= step}, step = 0..n.

    These decide the lemma for (n, p): both sides are linear in f, every decreasing f >= 0 is a
    mixture of steps, and a step between two integers has the same left side and a right side that
    is no smaller.
    """
    check_trials(n, p)
    last, sums = last_interval(n, p), binom.cdf(np.arange(n + 1), n, p)
    return [
        check_at_most("Lemma 2", sums[step], _step_bound(n, p, step, last), n=n, p=p, step=step)
        for step in range(n + 1)
    ]


def _step_bound(n: int, p: float, step: int, last: int) -> float:
    return history_bound(n, p, lambda x: float(x <= step), last=last)


def bootstrap_checks(n: int, p: float, a: float, shares: Sequence[float]) -> list[Check]:
    """Return Lemma 3, as logarithms, for x = share p n, where a > 0 and a n is an integer."""
    check_trials(n, p)
    check("Lemma 3", POSITIVE, a=a)
    b = (2 * a + 1) / (a * (a + 1))
    checks = []
    for x in (share * p * n for share in shares):
        exponent = b * (p * n + math.sqrt(n) - x) ** 2 / n
        bound = _LOG_SCALE - 0.5 * math.log(2 * a + 1) - exponent
        checks.append(
            check_at_least("Lemma 3", log_optimism(n, p, a, x), bound, n=n, p=p, a=a, x=x)
        )
    return checks


def stirling_checks(n: int, p: float) -> list[Check]:
    """Return Lemma 4, as logarithms, for x = 0..n and 0 < p < 1."""
    check_trials(n, p)
    check("Lemma 4, which divides by p (1 - p),", LEVEL, p=p)
    chances = log_binomial(np.arange(n + 1), n, p)
    return [
        check_at_least("Lemma 4", chances[x], stirling_bound(x, n, p), n=n, p=p, x=x)
        for x in range(n + 1)
    ]


def stirling_bound(x: int, n: int, p: float) -> float:
    """Return the logarithm of the right side of Lemma 4, infinite for x = 0 and x = n."""
    if x in (0, n):
        return math.inf
    return _LOG_SCALE + 0.5 * math.log(n / (x * (n - x))) - (x - p * n) ** 2 / (p * (1 - p) * n)


# -- the report: cases, violations, where, smallest margin -----------------------------------------

_P = tuple(float(p) for p in np.linspace(0, 1, 21))
_INSIDE = _P[1:-1]
_A = (1 / 3, 1 / 2, 1.0, 2.0, 3.0)
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)

_SHOWN = 3  # violations shown of each statement
_DRAWN = {
    "Lemma 2, p > 0": "right minus left side",
    "Lemma 3": "log of left / right side",
    "Lemma 4, 0 < x < n": "log of left / right side",
}


def lemmas_report(most: int) -> Report:
    """Return the report on the lemmas, for up to `most` trials."""
    check("a grid", whole(2), n=most)
    lemmas = _lemma_checks(most)
    return Report(
        command=f"giro theory lemmas --n {most}",
        tables=(
            _summary(f"Lemmas of Appendix C, n = 1..{most}; 3 and 4 as logarithms", lemmas),
            _violations(lemmas),
        ),
        statements=[_statement(claim, checks) for claim, checks in lemmas.items()],
        draw=partial(_draw, lemmas),
    )


def _lemma_checks(most: int) -> dict[str, list[Check]]:
    """Return the lemmas of Appendix C for n = 1..most, as printed and as corrected."""
    trials = range(1, most + 1)
    history = [check for n, p in product(trials, _P) for check in history_checks(n, p)]
    stirling = [check for n, p in product(trials, _INSIDE) for check in stirling_checks(n, p)]
    bootstrap = [
        check
        for n, p, a in product(trials, _P, _A)
        if is_whole(a * n)
        for check in bootstrap_checks(n, p, a, _SHARES)
    ]
    return {
        "Lemma 2": history,
        "Lemma 2, p > 0": [check for check in history if check.at["p"] > 0],
        "Lemma 3": bootstrap,
        "Lemma 4": stirling,
        "Lemma 4, 0 < x < n": [c for c in stirling if 0 < c.at["x"] < c.at["n"]],
    }


def _summary(title: str, groups: Mapping[str, Sequence[Check]]) -> Table:
    columns = (
        Column("claim", "statement", text),
        Column("cases", show=text),
        Column("violations", show=text),
        Column("margin", "smallest margin", digits(4)),
        Column("lhs", "left side", digits(4)),
        Column("rhs", "right side", digits(4)),
        Column("where", "there", text),
    )
    rows = []
    for claim, checks in groups.items():
        least = min(checks, key=lambda check: check.margin)
        sides = (least.margin, least.lhs, least.rhs, _where(least))
        rows.append((claim, len(checks), len(_failures(checks)), *sides))
    return table("lemmas", title, columns, rows)


def _failures(checks: Sequence[Check]) -> list[Check]:
    return [check for check in checks if not check.holds]


def _where(check: Check) -> str:
    return ", ".join(f"{key} = {value:.6g}" for key, value in check.at.items())


def _violations(groups: Mapping[str, Sequence[Check]]) -> Table:
    columns = (
        Column("claim", "statement", text),
        Column("where", "violated at", text),
        Column("lhs", "left side", digits(4)),
        Column("rhs", "right side", digits(4)),
    )
    rows = [
        (claim, _where(check), check.lhs, check.rhs)
        for claim, checks in groups.items()
        for check in _failures(checks)[:_SHOWN]
    ]
    return table("violations", f"Violations, the first {_SHOWN} of each", columns, rows)


def _statement(claim: str, checks: Sequence[Check]) -> Verdict:
    failures = _failures(checks)
    tightest = min(checks, key=lambda check: check.margin)
    where = f"first at {_where(failures[0])}" if failures else f"closest at {_where(tightest)}"
    figures = f"{len(failures)} of {len(checks)} cases violated, {where}"
    return Verdict(claim, not failures, figures)


def _draw(lemmas: Mapping[str, Sequence[Check]]) -> "Figure":
    """Draw the margins of each lemma against the number of trials. Below 0 it is violated."""
    with panels(len(_DRAWN)) as (figure, axes):
        for panel, (claim, unit) in zip(axes, _DRAWN.items(), strict=True):
            margins: dict[int, list[float]] = {}
            for check in lemmas[claim]:
                margins.setdefault(int(check.at["n"]), []).append(check.margin)
            trials = sorted(margins)
            low, middle, high = (
                [float(np.quantile(margins[n], q)) for n in trials] for q in (0.0, 0.5, 1.0)
            )
            panel.fill_between(
                trials, low, high, color=look(0)["color"], alpha=0.18, linewidth=0,
                label="all cases",
            )  # fmt: skip
            panel.plot(trials, middle, label="median", **look(1))
            panel.plot(trials, low, label="smallest", **look(0))
            panel.axhline(0, color=GREY, linewidth=0.8)
            if min(low) > 0 and max(high) > 20:
                panel.set_yscale("log")
            panel.margins(x=0)
            panel.set_xlabel("trials n")
            panel.set_ylabel(f"margin: {unit}")
            panel.set_title(claim)
        axes[0].legend(loc="center right")
    return figure
