"""Claims and their verdicts as tables for people."""

import math
from collections.abc import Sequence

from giro.cli._output import Column, print_line, print_table
from giro.cli._results import decimals_for, number
from giro.paper.claims import LEVEL, Judgement

_SMALL = 1e-6  # below which digits of a difference say nothing


def print_claims(judgements: Sequence[Judgement]) -> None:
    """Print each claim with its verdict and the comparison that decides it."""
    columns = [
        Column(""),
        Column("claim", words=True),
        Column("verdict"),
        Column("estimate", right=True),
        Column("se", right=True),
        Column("weakest comparison", words=True),
    ]
    print_table(columns, [_row(judgement) for judgement in judgements])


def print_test(comparisons: int) -> None:
    """Print how the claims were tested."""
    level, each = f"{LEVEL:.0%}", f"{LEVEL / comparisons:.2g}"
    print_line(
        f"""Two-sided t tests, run by run; family-wise level {level}, shared equally by
{comparisons} comparisons (Bonferroni, {each} each). A claim holds if all its comparisons hold, and
fails if one fails. Shown is its weakest comparison: the regret saved, the reward per round gained,
or the difference in R² of two fits, with its standard error. All of them are in comparisons.csv."""
    )


def said(judgement: Judgement) -> str:
    """Return the verdict, and how much of the claim it is about if that is not all."""
    there, missing = len(judgement.findings), judgement.claim.missing
    return judgement.verdict + (f" ({there} of {there + missing} played)" if missing else "")


def _row(judgement: Judgement) -> list[str]:
    comparison = judgement.weakest.comparison
    gain = comparison.gain
    known = [gain.se] if gain.se > _SMALL else [abs(gain.mean)]
    decimals = decimals_for([value for value in known if not math.isnan(value)])
    problem = comparison.problem.partition(",n_arms")[0].partition(":n_arms")[0]
    return [
        judgement.claim.number,
        judgement.claim.text,
        said(judgement),
        number(gain.mean, decimals),
        number(gain.se, decimals),
        f"{comparison.what}, {problem}",
    ]
