"""The lemmas of the appendix with numbers put in: cases, violations, where, smallest margin."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from giro.checks import check, whole
from giro.paper.claims import Verdict
from giro.paper.theory import proofs as steps
from giro.paper.theory.bound import b_constant, counted_pulls_check
from giro.paper.theory.proofs import bootstrap_checks, history_checks, stirling_checks
from giro.paper.theory.report import GREY, Report, Table, digits, look, panels, table, text
from giro.paper.theory.terms import Check, check_at_most, is_whole
from giro.tables import Column

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_P = tuple(float(p) for p in np.linspace(0, 1, 21))
_INSIDE = _P[1:-1]
_A = (1 / 3, 1 / 2, 1.0, 2.0, 3.0)
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
_B = tuple(b_constant(a) for a in (0.75, 1, 2, 3, 10))
_GAPS = (0.05, 0.1, 0.3, 0.5)

_SHOWN = 3  # violations shown of each statement
_DRAWN = {
    "Lemma 2, p > 0": "right minus left side",
    "Lemma 3": "log of left / right side",
    "Lemma 4, 0 < x < n": "log of left / right side",
}


def lemmas_report(most: int) -> Report:
    """Return what is violated, for up to `most` trials."""
    check("a grid", whole(2), n=most)
    lemmas, proofs = _lemma_checks(most), _proof_checks(most)
    return Report(
        command=f"giro theory lemmas --n {most}",
        tables=(
            _summary(
                "lemmas", f"Lemmas of Appendix C, n = 1..{most}; 3 and 4 as logarithms", lemmas
            ),
            _summary("proofs", "Steps of the proofs in Appendices B and C", proofs),
            _violations({**lemmas, **proofs}),
        ),
        statements=[_statement(claim, checks) for claim, checks in lemmas.items()],
        draw=partial(_draw, lemmas),
    )


def _lemma_checks(most: int) -> dict[str, list[Check]]:
    """Return the lemmas of Appendix C for n = 1..most, as they stand and as they can be saved."""
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


def _proof_checks(most: int) -> dict[str, list[Check]]:
    """Return the steps of the proofs in Appendices B and C, by what they are about."""
    trials = range(1, most + 1)
    rounds = (100, 1000, 10_000, 100_000)
    counted = [counted_pulls_check(n, gap, 1.0) for n, gap in product(rounds, _GAPS)]
    return {
        "Theorem 4, Lemma 2 to the bound": list(_chains(most)),
        "Theorem 4, completed square": [
            steps.square_check(b, i) for b, i in product(_B, range(20))
        ],
        "Theorem 4, shifted sum": [steps.shifted_sum_check(b) for b in _B],
        "Theorem 4, integral": [steps.integral_check(b) for b in _B],
        "Theorem 4, half the integral": [steps.half_integral_check(b) for b in _B],
        "Lemma 2, Hoeffding": [
            steps.history_tail_check(n, p, i) for n, p, i in product(trials, _P, range(1, 5))
        ],
        "Lemma 3, floor of root": [steps.floor_of_root_check(n) for n in range(1, 10_001)],
        "Lemma 4, divergence": [
            steps.divergence_check(p, q) for p, q in product(_P, _INSIDE)
        ],
        "Theorem 2, history deviates": [
            steps.deviation_check(s, mean, gap, a)
            for s, mean, gap, a in product(trials, _INSIDE, _GAPS, (1.0, 3.0))
        ],
        "Theorem 2, sample deviates": [
            steps.sample_deviation_check(3 * s, ones, gap * s / 4)
            for s, gap in product(trials, _GAPS)
            for ones in range(s, 2 * s + 1)
        ],
        "Theorem 2, small failure": [steps.small_failure_check(n) for n in range(2, 10_001)],
        "Theorem 2, counted pulls (+ 2)": counted,
        "Theorem 2, counted pulls (+ 3)": [
            check_at_most(check.claim, check.lhs, check.rhs + 1, **check.at) for check in counted
        ],
    }  # fmt: skip


def _chains(most: int) -> Iterator[Check]:
    """Yield that each bound in the proof of Theorem 4 is at most the next, as logarithms."""
    for n, p, a in product((1, 2, 5, most), (0.05, 0.3, 0.5, 0.9), (1.0, 2.0, 3.0)):
        chain = steps.optimism_chain(n, p, a)
        for i, (smaller, larger) in enumerate(pairwise(chain)):
            yield check_at_most(chain._fields[i + 1], smaller, larger, n=n, p=p, a=a)


def _summary(name: str, title: str, groups: Mapping[str, Sequence[Check]]) -> Table:
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
    return table(name, title, columns, rows)


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
    """Return the margins of each lemma against the number of trials; below 0 it is violated."""
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
