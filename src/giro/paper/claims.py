"""A claim of the paper as a test of numbers: holds, fails, undecided.

A claim is a list of comparisons that should all come out positive. Each is a two-sided paired
t test; the level is shared equally among all comparisons of all claims (Bonferroni), so that the
chance of any wrong verdict in the family is at most that level. A claim holds if every comparison
is significantly positive, fails if any is significantly negative, and is undecided otherwise, also
as long as something that it compares was not played. What was not played has its share of the
level all the same, so that a verdict does not change because something else is played.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.special import stdtr

from giro.errors import BadParameter
from giro.simulation.metrics import Estimate, paired_difference
from giro.simulation.trace import Trace

Verdict: TypeAlias = Literal["holds", "fails", "undecided"]

LEVEL = 0.05


class Comparison(NamedTuple):
    """Something that is positive, in expectation, if the claim is right."""

    what: str
    problem: str
    unit: str
    gain: Estimate
    runs: int


class Claim(NamedTuple):
    """A sentence and the comparisons that decide it."""

    number: str
    text: str
    comparisons: Sequence[Comparison]
    missing: int = 0  # comparisons of things not played yet


class Finding(NamedTuple):
    """A comparison with its two-sided p value, and what it says of the claim."""

    comparison: Comparison
    p_value: float
    verdict: Verdict


class Judgement(NamedTuple):
    """A claim with its verdict, and the finding that speaks most against it."""

    claim: Claim
    verdict: Verdict
    findings: Sequence[Finding]

    @property
    def weakest(self) -> Finding:
        """The finding that speaks most against the claim, or least for it: it decides."""
        return min(self.findings, key=_in_favour)

    @property
    def in_favour(self) -> int:
        """How many comparisons come out positive, significantly or not."""
        return sum(finding.comparison.gain.mean > 0.0 for finding in self.findings)


def judge(
    claims: Sequence[Claim], *, level: float = LEVEL, family: int | None = None
) -> list[Judgement]:
    """Return a verdict on every claim, at a family-wise level over all their comparisons.

    `family` is how many comparisons share the level if not just these: more where whole claims
    were left out, and 1 to give each the whole level.
    """
    for claim in claims:
        if not claim.comparisons:
            raise BadParameter(f"claim {claim.number} compares nothing")
    each = level / (max(1, size_of_family(claims)) if family is None else family)
    judged = [[_finding(one, each) for one in claim.comparisons] for claim in claims]
    return [
        Judgement(claim, _joint(findings, claim.missing), findings)
        for claim, findings in zip(claims, judged, strict=True)
    ]


def size_of_family(claims: Sequence[Claim]) -> int:
    """Return how many comparisons share the level, those not played yet among them."""
    return sum(len(claim.comparisons) + claim.missing for claim in claims)


def beats(winner: Trace, loser: Trace) -> Comparison:
    """Return by how much less the winner regrets than the loser, on the same instances."""
    gain = paired_difference(loser, winner)
    runs = np.intersect1d(winner.runs, loser.runs).size
    what = f"{winner.setting.policy} against {loser.setting.policy}"
    return Comparison(what, winner.setting.problem, "regret", gain, runs)


def earns_more(winner: Trace, loser: Trace) -> Comparison:
    """Return by how much more the winner earns per round than the loser, on the same instances."""
    gain = paired_difference(winner, loser, metric="reward")
    return _of_rewards(
        f"{winner.setting.policy} against {loser.setting.policy}", gain, winner, loser
    )


def earns_the_same(first: Trace, second: Trace, *, margin: float) -> Comparison:
    """Return what is left of the margin by which the two may differ in reward per round.

    Positive beyond its error if both one-sided tests of equivalence say so (Schuirmann, 1987).
    """
    mean, se, low, high = paired_difference(first, second, metric="reward")
    least = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
    left = Estimate(margin - abs(mean), se, margin - max(abs(low), abs(high)), margin - least)
    what = f"{first.setting.policy} within {margin} of {second.setting.policy}"
    return _of_rewards(what, left, first, second)


def _of_rewards(what: str, gain: Estimate, first: Trace, second: Trace) -> Comparison:
    runs = np.intersect1d(first.runs, second.runs).size
    return Comparison(what, first.setting.problem, "reward per round", gain, runs)


def record(judgement: Judgement) -> dict[str, Any]:
    """Return a judgement as plain data, with estimate and error of its weakest comparison."""
    comparison = judgement.weakest.comparison
    return {
        "number": judgement.claim.number,
        "claim": judgement.claim.text,
        "verdict": judgement.verdict,
        "estimate": comparison.gain.mean,
        "se": comparison.gain.se,
        "unit": comparison.unit,
        "weakest": comparison.what,
        "problem": comparison.problem,
        "comparisons": len(judgement.findings),
        "missing": judgement.claim.missing,
    }


def finding_records(judgement: Judgement) -> list[dict[str, Any]]:
    """Return the comparisons of a judgement as plain data."""
    return [
        {
            "number": judgement.claim.number,
            "comparison": comparison.what,
            "problem": comparison.problem,
            "unit": comparison.unit,
            "estimate": comparison.gain.mean,
            "se": comparison.gain.se,
            "runs": comparison.runs,
            "p_value": p_value,
            "verdict": verdict,
        }
        for comparison, p_value, verdict in judgement.findings
    ]


def _finding(comparison: Comparison, level: float) -> Finding:
    p_value = _p_value(comparison)
    if not p_value <= level:
        return Finding(comparison, p_value, "undecided")
    return Finding(comparison, p_value, "holds" if comparison.gain.mean > 0 else "fails")


def _in_favour(finding: Finding) -> tuple[float, float]:
    """Return how sure a finding is, negative if it speaks against; gains in errors break ties.

    Errors of different numbers of runs are not alike: three of them are much from a hundred runs
    and next to nothing from two.
    """
    gain = finding.comparison.gain
    return math.copysign(1.0 - finding.p_value, gain.mean), _t(gain)


def _joint(findings: Sequence[Finding], missing: int) -> Verdict:
    verdicts = {finding.verdict for finding in findings}
    if "fails" in verdicts:
        return "fails"
    return "holds" if verdicts == {"holds"} and not missing else "undecided"


def _p_value(comparison: Comparison) -> float:
    """Return the probability of a gain this far from 0, either way, if there were none."""
    t = _t(comparison.gain)
    if math.isinf(t) or t == 0.0:
        return 0.0 if t else 1.0
    return float(2 * stdtr(comparison.runs - 1, -abs(t)))


def _t(gain: Estimate) -> float:
    """Return the gain in standard errors: infinite if it never varies, 0 if that is unknown."""
    if gain.se > 0:
        return gain.mean / gain.se
    return math.copysign(math.inf, gain.mean) if gain.mean and gain.se == 0 else 0.0
