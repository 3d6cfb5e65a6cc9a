"""Theorem 4: the expected inverse probability of being optimistic, exactly, against c."""

import math
from collections.abc import Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from giro.errors import BadParameter
from giro.paper.claims import Verdict
from giro.paper.theory.bound import b_constant, log_c, log_f
from giro.paper.theory.optimism import (
    log_inverse_optimism,
    log_inverse_optimism_above,
    smallest_bounded_a,
    smallest_exponent,
)
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
from giro.paper.theory.terms import is_whole
from giro.tables import Column, Record, fixed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_QUOTED = {1.0: 24.0, 2.0: 5.7, 3.0: 3.3}  # Section 5.3: f(b) = e^24, e^5.7, e^3.3
_FEW = (0.05, 0.1, 0.11, 0.12, 0.2, 0.5)  # on both sides of the threshold
_MANY_PULLS = (100, 200, 400, 800)
_HIGHEST = 50  # powers of ten drawn; W without end grows without end


class _Row(NamedTuple):
    a: float
    n: int
    p: float
    log_w: float
    log_c: float  # NaN where Theorem 4 says nothing

    @property
    def holds(self) -> bool | None:
        return None if math.isnan(self.log_c) else self.log_w <= self.log_c


def optimism_report(
    a_values: Sequence[float], n_values: Sequence[int], p_values: Sequence[float] | None
) -> Report:
    """Return W on a grid; without `p_values`, its largest value over all p > 0.

    Pairs (a, n) whose product is no integer are left out.
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
    found = []
    for a in a_values:
        _, n, p, log_w, bound = max((row for row in rows if row.a == a), key=_size)
        b = b_constant(a) if _has_bound(a) else math.nan
        f = log_f(b) if _has_bound(a) else math.nan
        found.append((a, b, f, bound, log_w, n, p, bound - log_w))
    return table("constants", "Theorem 4: W <= c", columns, found)


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
    found = {a: round(log_f(b_constant(a)), 1) for a in _QUOTED}
    statements = [
        Verdict(
            "Section 5.3: f(b) is e^24, e^5.7, e^3.3 for a = 1, 2, 3",
            found == _QUOTED,
            ", ".join(power(log) for log in found.values()),
        )
    ]
    known = [row for row in rows if not math.isnan(row.log_c)]
    if known:
        worst, violations = max(known, key=_size), sum(row.holds is False for row in known)
        closest = min(known, key=lambda row: row.log_c - row.log_w)
        loose = closest.log_c - closest.log_w
        statements += [
            Verdict(
                "Theorem 4: W <= c",
                violations == 0,
                f"{len(known)} cases, {violations} violations; largest W is "
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
    """Return W against c for each `a`, and W's growth for small `a`."""
    with panels(2) as (figure, (left, right)):
        for i, a in enumerate(dict.fromkeys(row.a for row in largest)):
            mine = [row for row in largest if row.a == a]
            label, logs = f"a = {text(a)}", log10([row.log_w for row in mine])
            left.plot([row.n for row in mine], logs, marker="o", ms=3, label=label, **look(i))
            if _has_bound(a) and mine[0].log_c < 100:
                _draw_bound(left, float(log10(mine[0].log_c)), f"c for {label}", look(i))
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
