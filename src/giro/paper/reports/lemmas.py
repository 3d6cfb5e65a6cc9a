"""The lemmas of the appendix with numbers put in: cases, violations, where, smallest margin."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from giro.errors import BadParameter
from giro.paper.claims import Verdict
from giro.paper.reports._formats import digits, text
from giro.paper.reports._panels import GREY, look, panels
from giro.paper.reports.lemma_grids import lemma_checks, proof_checks
from giro.paper.reports.report import Report, Table
from giro.paper.theory.checks import Check
from giro.tables import Column, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN = 3  # violations shown of each statement
_DRAWN = {
    "Lemma 2, p > 0": "right minus left side",
    "Lemma 3": "log of left / right side",
    "Lemma 4, 0 < x < n": "log of left / right side",
}


def lemmas_report(most: int) -> Report:
    """Return what is violated, for up to `most` trials."""
    if most < 2:
        raise BadParameter(f"the grids need n >= 2, got n={most}")
    lemmas, proofs = lemma_checks(most), proof_checks(most)
    every = {**lemmas, **proofs}
    return Report(
        command=f"giro theory lemmas --n {most}",
        tables=(
            _summary(
                "lemmas", f"Lemmas of Appendix C, n = 1..{most}; 3 and 4 as logarithms", lemmas
            ),
            _summary("proofs", "Steps of the proofs in Appendices B and C", proofs),
            _violations(every),
        ),
        statements=[_statement(claim, checks) for claim, checks in lemmas.items()],
        draw=partial(_draw, lemmas),
    )


def _summary(name: str, title: str, groups: Mapping[str, Sequence[Check]]) -> Table:
    fields = (
        Column("claim", "statement", text),
        Column("cases", show=text),
        Column("violations", show=text),
        Column("margin", "smallest margin", digits(4)),
        Column("lhs", "left side", digits(4)),
        Column("rhs", "right side", digits(4)),
        Column("where", "there", text),
    )
    return Table(name, title, fields, [_record(claim, mine) for claim, mine in groups.items()])


def _record(claim: str, checks: Sequence[Check]) -> Record:
    tightest = min(checks, key=lambda check: check.margin)
    return {
        "claim": claim,
        "cases": len(checks),
        "violations": len(_failures(checks)),
        "margin": tightest.margin,
        "lhs": tightest.lhs,
        "rhs": tightest.rhs,
        "where": _where(tightest),
    }


def _failures(checks: Sequence[Check]) -> list[Check]:
    return [check for check in checks if not check.holds]


def _where(check: Check) -> str:
    return ", ".join(f"{key} = {value:.6g}" for key, value in check.at.items())


def _violations(groups: Mapping[str, Sequence[Check]]) -> Table:
    fields = (
        Column("claim", "statement", text),
        Column("where", "violated at", text),
        Column("lhs", "left side", digits(4)),
        Column("rhs", "right side", digits(4)),
    )
    records: list[Record] = [
        {"claim": claim, "where": _where(check), "lhs": check.lhs, "rhs": check.rhs}
        for claim, checks in groups.items()
        for check in _failures(checks)[:_SHOWN]
    ]
    return Table("violations", f"Violations, the first {_SHOWN} of each", fields, records)


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
