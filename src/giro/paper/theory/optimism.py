"""Optimism: the probability that an arm's value reaches its limit (Kveton et al., 2019).

Theorem 4 bounds W, the expected inverse of that probability. Section 4.2 has an informal argument:
Giro explores because no unfavourable history is more likely than optimism under it (Equation 7).
This would be true for normal values if a (a + 1) / (2a + 1) >= 1/4.

Equation 7 as stated is wrong for every `a` and s. With 0 < mean < 1 - 2^(-1/s), the history
without a one has a probability above 1/2, and optimism under it, P(U > E[U]), has at most 1/2. It
also fails for larger means while s is small. For a fixed mean and large s the exact condition
compares two rates of decay (`optimism_exponent`), and needs less than the paper: a > 0.115.
"""

import math
from collections.abc import Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize
from scipy.special import logsumexp, rel_entr

from giro.checks import POSITIVE, check
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


def optimism_exponent(a: float, mean: ArrayLike, observed: ArrayLike) -> Floats:
    """Return the rate of decay per pull of a bad history minus that of optimism under it.

    After s pulls, a history with a share `observed` of ones has probability about
    exp(-s d(observed, mean)). Under it the value reaches the arm's limit with probability about
    exp(-s alpha d((mean + a) / alpha, (observed + a) / alpha)), with the divergence d of Lemma 4.
    If the difference of the two rates is negative, W grows exponentially with s.
    """
    alpha = 2 * a + 1
    mean, observed = np.asarray(mean, dtype=np.float64), np.asarray(observed, dtype=np.float64)
    optimism = bernoulli_divergence((mean + a) / alpha, (observed + a) / alpha)
    return np.asarray(bernoulli_divergence(observed, mean) - alpha * optimism)


def bernoulli_divergence(p: ArrayLike, q: ArrayLike) -> Floats:
    """Return d(p, q), the divergence of Bernoulli distributions (Kveton et al., 2019, Lemma 4)."""
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    return np.asarray(rel_entr(p, q) + rel_entr(1 - p, 1 - q))


def smallest_exponent(a: float) -> tuple[float, float, float]:
    """Return the smallest `optimism_exponent` per squared deviation, and its mean and observed.

    It is divided by (mean - observed)^2, because the exponent is 0 if the two are equal.
    """
    check("the exponent", POSITIVE, a=a)
    mean, share = np.meshgrid(np.linspace(0.01, 0.99, 99), np.linspace(0, 0.99, 100))
    grid = _scaled_exponent(a, mean, share)
    start = np.unravel_index(grid.argmin(), grid.shape)
    minimum = minimize(
        lambda at: float(_scaled_exponent(a, at[0], at[1])),
        [mean[start], share[start]],
        bounds=[(0.01, 0.99), (0.0, 0.99)],
    )
    return float(minimum.fun), float(minimum.x[0]), float(minimum.x[0] * minimum.x[1])


def smallest_bounded_a() -> float:
    """Return the smallest `a` for which W stays bounded as the pulls grow, about 0.115.

    Below it optimism can be too rare for a good arm with a bad start, most of all for means near
    0.6: 1 / P(optimistic) then grows faster than bad starts die out. Theorem 2 needs a > 0.707.
    """
    return float(brentq(lambda a: smallest_exponent(a)[0], 0.05, 0.3, xtol=1e-6))


def _scaled_exponent(a: float, mean: ArrayLike, share: ArrayLike) -> Floats:
    mean, share = np.asarray(mean), np.asarray(share)
    return np.asarray(optimism_exponent(a, mean, mean * share) / (mean - mean * share) ** 2)


# -- the report: W exactly, against c --------------------------------------------------------------

_QUOTED = {1.0: 24.0, 2.0: 5.7, 3.0: 3.3}  # Section 5.3: f(b) = e^24, e^5.7, e^3.3
_FEW = (0.05, 0.1, 0.11, 0.12, 0.2, 0.5)  # on both sides of the threshold
_MANY_PULLS = (100, 200, 400, 800)
_HIGHEST = 50  # powers of ten drawn; W can grow without limit


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
    growth, everywhere = _growth(), p_values is None
    p_title = "just above p" if everywhere else "p"
    title = "Largest W over all p" if everywhere else "Largest W over the p given"
    return Report(
        command=f"giro theory optimism --a {listed(a_values)} --n {listed(n_values)}"
        + ("" if p_values is None else f" --p {listed(p_values)}"),
        tables=(
            _constants(sorted({a for a, _ in pairs}), rows, p_title),
            _largest(largest, title, p_title),
            Table("grid", "", (), [_record(row) for row in rows]),
            growth,
        ),
        statements=_statements(rows, growth, p_title),
        draw=partial(_draw, largest, growth),
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


@cache
def _threshold() -> float:
    return smallest_bounded_a()


@cache
def _growth() -> Table:
    columns = (
        Column("a", show=text),
        Column("exponent", "smallest exponent", fixed(4)),
        Column("p", "at p", fixed(3)),
        *(Column(f"log_w_{n}", f"W after {n}", from_log) for n in _MANY_PULLS),
        Column("bounded", show=yes),
    )
    title = "Growth of W with the pulls, at the p where it is fastest"
    rows = []
    for a in _FEW:
        exponent, p, _ = smallest_exponent(a)
        logs = [log_inverse_optimism(n, p, a) for n in _MANY_PULLS]
        rows.append((a, exponent, p, *logs, exponent > 0))
    return table("growth", title, columns, rows)


def _statements(rows: Sequence[_Row], growth: Table, p_title: str) -> list[Verdict]:
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
    unbounded = [record for record in growth.records if not record["bounded"]]
    first, last = (from_log(unbounded[0][f"log_w_{n}"]) for n in (_MANY_PULLS[0], _MANY_PULLS[-1]))
    statements.append(
        Verdict(
            "W stays bounded for every a > 0",
            not unbounded,
            f"only for a > {_threshold():.4f}; for a = {text(unbounded[0]['a'])} it is {first} "
            f"after {_MANY_PULLS[0]} pulls and {last} after {_MANY_PULLS[-1]}",
        )
    )
    return statements


def _draw(largest: Sequence[_Row], growth: Table) -> "Figure":
    """Draw W against c for each `a`, and W's growth for small `a`."""
    with panels(2) as (figure, (left, right)):
        for i, a in enumerate(dict.fromkeys(row.a for row in largest)):
            group = [row for row in largest if row.a == a]
            label, logs = f"a = {text(a)}", log10([row.log_w for row in group])
            left.plot([row.n for row in group], logs, marker="o", ms=3, label=label, **look(i))
            if _has_bound(a) and group[0].log_c < 100:
                _draw_bound(left, float(log10(group[0].log_c)), f"c for {label}", look(i))
        left.set_xscale("log")
        left.set_ylim(bottom=0)
        left.set_ylabel("W, expected 1 / P(optimistic)")
        left.set_title("largest W over all p, and its bound c")
        left.legend(loc="upper left", bbox_to_anchor=(0.0, 0.78))
        for i, record in enumerate(growth.records):
            label = f"a = {text(record['a'])}, p = {record['p']:.2f}"
            logs = log10([record[f"log_w_{n}"] for n in _MANY_PULLS])
            right.plot(_MANY_PULLS, logs, marker="o", ms=3, label=label, **look(i))
        right.set_ylim(0, _HIGHEST)
        right.set_title(f"W at its worst p: bounded for a > {_threshold():.4f} only")
        right.legend(loc="upper right")
        for panel in (left, right):
            powers_of_ten(panel)
            panel.set_xlabel("pulls n")
    return figure


def _draw_bound(panel: "Axes", y: float, label: str, style: dict[str, Any]) -> None:
    panel.axhline(y, **{**style, "linewidth": 1})
    panel.annotate(
        label, (0.98, y), (0, 3), color=style["color"], ha="right",
        xycoords=("axes fraction", "data"), textcoords="offset points", fontsize=8,
    )  # fmt: skip
