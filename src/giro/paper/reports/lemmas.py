"""The lemmas of the appendix with numbers put in: cases, violations, where, smallest margin."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from giro.errors import BadParameter
from giro.paper.figures.lemmas import Margins, lemmas_figure
from giro.paper.reports.formats import digits, text
from giro.paper.reports.lemma_grids import lemma_checks, proof_checks
from giro.paper.reports.report import Field, Record, Report, Statement, Table
from giro.paper.theory.checks import Check

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
        Field("claim", "statement", text),
        Field("cases", "cases", text),
        Field("violations", "violations", text),
        Field("margin", "smallest margin", digits(4)),
        Field("lhs", "left side", digits(4)),
        Field("rhs", "right side", digits(4)),
        Field("where", "there", text),
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
        Field("claim", "statement", text),
        Field("where", "violated at", text),
        Field("lhs", "left side", digits(4)),
        Field("rhs", "right side", digits(4)),
    )
    records: list[Record] = [
        {"claim": claim, "where": _where(check), "lhs": check.lhs, "rhs": check.rhs}
        for claim, checks in groups.items()
        for check in _failures(checks)[:_SHOWN]
    ]
    return Table("violations", f"Violations, the first {_SHOWN} of each", fields, records)


def _statement(claim: str, checks: Sequence[Check]) -> Statement:
    failures = _failures(checks)
    tightest = min(checks, key=lambda check: check.margin)
    where = f"first at {_where(failures[0])}" if failures else f"closest at {_where(tightest)}"
    figures = f"{len(failures)} of {len(checks)} cases violated, {where}"
    return Statement(claim, not failures, figures)


def _draw(lemmas: Mapping[str, Sequence[Check]]) -> Figure:
    return lemmas_figure([_margins(claim, lemmas[claim]) for claim in _DRAWN])


def _margins(claim: str, checks: Sequence[Check]) -> Margins:
    trials = sorted({int(check.at["n"]) for check in checks})
    margins: dict[int, list[float]] = {n: [] for n in trials}
    for check in checks:
        margins[int(check.at["n"])].append(check.margin)
    low, middle, high = (
        [float(np.quantile(margins[n], q)) for n in trials] for q in (0.0, 0.5, 1.0)
    )
    return Margins(claim, _DRAWN[claim], trials, low, middle, high)
