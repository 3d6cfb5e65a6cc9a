"""Optimism: the probability that an arm's value reaches its limit (Kveton et al., 2019).

Theorem 4 bounds W, the expected inverse of that probability. Section 4.2 has an informal argument:
Giro explores because no unfavourable history is more likely than optimism under it (Equation 7).
This would be true for normal values if a (a + 1) / (2a + 1) >= 1/4.

Equation 7 as stated is wrong for every `a` and s. With 0 < mean < 1 - 2^(-1/s), the history
without a one has a probability above 1/2, and optimism under it, P(U > E[U]), has at most 1/2. It
also fails for larger means while s is small.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from giro.errors import BadParameter
from giro.paper.claims import Verdict
from giro.paper.theory.bound import b_constant, log_c, log_f
from giro.paper.theory.report import (
    Report,
    Table,
    from_log,
    listed,
    log10,
    look,
    panels,
    power,
    powers_of_ten,
    table,
    text,
    yes,
)
from giro.paper.theory.terms import (
    Check,
    Floats,
    check_at_least,
    check_pseudo_rewards,
    check_trials,
    is_whole,
    log_binomial,
    log_binomial_tail,
    rounded_up,
    whole_pseudo_count,
)
from giro.tables import Column, Record, fixed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def log_inverse_optimism(n: int, p: float, a: float) -> float:
    """Return log W, where W is the expected inverse probability of optimism after `n` pulls.

    Kveton et al. (2019), Appendix C: the mean over x ~ B(n, p) of
    1 / P(Y >= ceil((a + p) n)), where Y ~ B((2a + 1) n, (a n + x) / ((2a + 1) n)). The formula
    needs `a n` to be an integer, and so does this function. `a` may be 1/3 if n is 3. For a = 0, W
    is infinite (a history of zeros is never optimistic). The cost is one term for each x and y.
    """
    check_trials(n, p)
    weights = log_binomial(np.arange(n + 1), n, p)
    tails = np.array([log_optimism(n, p, a, x) for x in range(n + 1)])
    possible = weights > -np.inf
    return float(logsumexp(weights[possible] - tails[possible]))


def log_inverse_optimism_above(n: int, a: float) -> Floats:
    """Return log W just above p = k / n for k = 0..n - 1, the largest of which is W's supremum.

    As p grows from one multiple of 1 / n to the next, the required number of ones stays the same
    and the observed number grows, so W falls. At each multiple it jumps.
    """
    check_trials(n, 0.5)
    pseudo = whole_pseudo_count(a, n)
    m, ones = n + 2 * pseudo, np.arange(n + 1)
    chances = log_binomial(np.arange(m + 1), m, (pseudo + ones[:, None]) / m)
    tails = np.logaddexp.accumulate(chances[:, ::-1], axis=1)[:, ::-1]  # [x, y]: P(Y >= y)
    weights = log_binomial(ones, n, ones[:-1, None] / n)  # [k, x]
    terms = weights - np.where(weights > -np.inf, tails[:, pseudo + 1 : pseudo + n + 1].T, 0.0)
    return np.asarray(logsumexp(terms, axis=1))


def log_optimism(n: int, p: float, a: float, x: float) -> float:
    """Return the log probability of a sample with (a + p) n ones or more, given `x` ones of n.

    This is the inner sum of Kveton et al. (2019), Theorem 4. 0 <= x <= n may be any real number.
    """
    k = whole_pseudo_count(a, n)
    m = n + 2 * k
    return log_binomial_tail(k + rounded_up(p * n), m, min((k + x) / m, 1.0))


# -- the informal argument -------------------------------------------------------------------------


def variance_condition(a: float) -> bool:
    """Return whether a (a + 1) / (2a + 1) >= 1/4, so that a normal value would be optimistic."""
    check_pseudo_rewards(a)
    return 4 * a * (a + 1) >= 2 * a + 1


def smallest_optimistic_a() -> float:
    """Return the smallest `a` with a (a + 1) / (2a + 1) >= 1/4, which the paper calls about 1/3.

    It is the root of 4 a^2 + 2 a - 1.

    >>> round(smallest_optimistic_a(), 6)
    0.309017
    """
    return (math.sqrt(5) - 1) / 4


def informal_optimism_checks(s: int, mean: float, a: float) -> list[Check]:
    """Return Equation 7 for every unfavourable history of `s` pulls, as logarithms.

    P(mu_hat >= (mean + a) / alpha given V = v) >= P(V = v) for each v < (mean + a) s that has a
    positive probability. a s must be an integer. `x` is the number of observed ones, v - a s.
    """
    check_trials(s, mean)
    expected = mean * s
    unfavourable = range(rounded_up(expected))
    chances = log_binomial(np.arange(s + 1), s, mean)
    return [
        check_at_least(
            "Equation 7", log_optimism(s, mean, a, x), chances[x], s=s, mean=mean, a=a, x=x
        )
        for x in unfavourable
        if chances[x] > -np.inf
    ]


# -- the report: W exactly, against c --------------------------------------------------------------

_QUOTED = {1.0: 24.0, 2.0: 5.7, 3.0: 3.3}  # Section 5.3: f(b) = e^24, e^5.7, e^3.3


class _Row(NamedTuple):
    a: float
    n: int
    p: float
    log_w: float
    log_c: float  # NaN where Theorem 4 does not apply

    @property
    def holds(self) -> bool | None:
        return None if math.isnan(self.log_c) else self.log_w <= self.log_c


def optimism_report(
    a_values: Sequence[float], n_values: Sequence[int], p_values: Sequence[float] | None
) -> Report:
    """Return W on a grid or, without `p_values`, its largest value over all p > 0.

    Pairs (a, n) whose product is not an integer are left out.
    """
    if not min(a_values) > 0:
        raise BadParameter(f"W is infinite without pseudo rewards, got a={min(a_values):g}")
    pairs = [(a, n) for a in a_values for n in n_values if is_whole(a * n)]
    if not pairs:
        raise BadParameter(
            f"W needs a * n to be an integer, got a={listed(a_values)} and n={listed(n_values)}"
        )
    rows = [row for a, n in pairs for row in _rows(a, n, p_values)]
    largest = [max((r for r in rows if (r.a, r.n) == pair), key=_size) for pair in pairs]
    everywhere = p_values is None
    p_title = "just above p" if everywhere else "p"
    title = "Largest W over all p" if everywhere else "Largest W over the p given"
    return Report(
        command=f"giro theory optimism --a {listed(a_values)} --n {listed(n_values)}"
        + ("" if p_values is None else f" --p {listed(p_values)}"),
        tables=(
            _constants(sorted({a for a, _ in pairs}), rows, p_title),
            _largest(largest, title, p_title),
            Table("grid", "", (), [_record(row) for row in rows]),
        ),
        statements=_statements(rows, p_title),
        draw=partial(_draw, largest),
    )


def _rows(a: float, n: int, p_values: Sequence[float] | None) -> list[_Row]:
    bound = log_c(a) if _has_bound(a) else math.nan
    if p_values is None:
        limits = log_inverse_optimism_above(n, a).tolist()
        return [_Row(a, n, k / n, log_w, bound) for k, log_w in enumerate(limits)]
    return [_Row(a, n, p, log_inverse_optimism(n, p, a), bound) for p in p_values]


def _has_bound(a: float) -> bool:
    return a > 1 / math.sqrt(2)


def _size(row: _Row) -> float:
    return row.log_w


def _record(row: _Row) -> Record:
    return {**row._asdict(), "holds": row.holds}


def _constants(a_values: Sequence[float], rows: Sequence[_Row], p_title: str) -> Table:
    columns = (
        Column("a", show=text),
        Column("b", show=fixed(4)),
        Column("log_f", "f(b)", power),
        Column("log_c", "c", power),
        Column("log_w", "largest W", from_log),
        Column("n", "at n", text),
        Column("p", p_title, fixed(4)),
        Column("log_looseness", "c / W", from_log),
    )
    records = []
    for a in a_values:
        _, n, p, log_w, bound = max((row for row in rows if row.a == a), key=_size)
        b = b_constant(a) if _has_bound(a) else math.nan
        f = log_f(b) if _has_bound(a) else math.nan
        records.append((a, b, f, bound, log_w, n, p, bound - log_w))
    return table("constants", "Theorem 4: W <= c", columns, records)


def _largest(largest: Sequence[_Row], title: str, p_title: str) -> Table:
    columns = (
        Column("a", show=text),
        Column("n", show=text),
        Column("p", p_title, fixed(4)),
        Column("log_w", "W", lambda log: f"{math.exp(log):.3f}" if log < 10 else from_log(log)),
        Column("log_c", "c", power),
        Column("holds", show=yes),
    )
    return Table("largest", title, columns, [_record(row) for row in largest])


def _statements(rows: Sequence[_Row], p_title: str) -> list[Verdict]:
    computed = {a: round(log_f(b_constant(a)), 1) for a in _QUOTED}
    statements = [
        Verdict(
            "Section 5.3: f(b) is e^24, e^5.7, e^3.3 for a = 1, 2, 3",
            computed == _QUOTED,
            ", ".join(power(log) for log in computed.values()),
        )
    ]
    bounded = [row for row in rows if not math.isnan(row.log_c)]
    if bounded:
        worst, violations = max(bounded, key=_size), sum(row.holds is False for row in bounded)
        closest = min(bounded, key=lambda row: row.log_c - row.log_w)
        loose = closest.log_c - closest.log_w
        statements += [
            Verdict(
                "Theorem 4: W <= c",
                violations == 0,
                f"{len(bounded)} cases, {violations} violations; largest W is "
                f"{math.exp(worst.log_w):.2f}, at a = {text(worst.a)}, n = {worst.n}, "
                f"{p_title} = {worst.p:.4f}, where c = {power(worst.log_c)}",
            ),
            Verdict(
                "Section 5.3: c is likely to be loose",
                loose > math.log(10),
                f"c is at least {from_log(loose)} times W, closest at a = {text(closest.a)}",
            ),
        ]
    return statements


def _draw(largest: Sequence[_Row]) -> "Figure":
    """Draw W against c for each `a`."""
    with panels(1) as (figure, (panel,)):
        for i, a in enumerate(dict.fromkeys(row.a for row in largest)):
            group = [row for row in largest if row.a == a]
            label, logs = f"a = {text(a)}", log10([row.log_w for row in group])
            panel.plot([row.n for row in group], logs, marker="o", ms=3, label=label, **look(i))
            if _has_bound(a) and group[0].log_c < 100:
                _draw_bound(panel, float(log10(group[0].log_c)), f"c for {label}", look(i))
        panel.set_xscale("log")
        panel.set_ylim(bottom=0)
        panel.set_xlabel("pulls n")
        panel.set_ylabel("W, expected 1 / P(optimistic)")
        panel.set_title("largest W over all p, and its bound c")
        panel.legend(loc="upper left", bbox_to_anchor=(0.0, 0.78))
        powers_of_ten(panel)
    return figure


def _draw_bound(panel: "Axes", y: float, label: str, style: dict[str, Any]) -> None:
    panel.axhline(y, **{**style, "linewidth": 1})
    panel.annotate(
        label, (0.98, y), (0, 3), color=style["color"], ha="right",
        xycoords=("axes fraction", "data"), textcoords="offset points", fontsize=8,
    )  # fmt: skip
