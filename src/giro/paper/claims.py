"""A claim of the paper as a test of numbers: it holds, fails, or is undecided.

A claim is a list of comparisons that should all be positive. Each is a two-sided paired t test. The
level is shared equally among all comparisons of all claims (Bonferroni), so that the probability
of any wrong verdict in the family is at most that level. A claim holds if every comparison is
significantly positive and fails if any is significantly negative. Otherwise it is undecided, also
as long as some of its comparisons were not played. These have their share of the level all the
same, so that a verdict does not change because something else is played.

Comparisons are of regret and of reward per round on the same instances, and of the growth of
regret: whether log n or n explains it better over the last decade of rounds.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr

from giro.errors import BadParameter
from giro.simulation.metrics import Estimate, estimate, paired_difference
from giro.simulation.trace import Trace
from giro.tables import Column, Record, decimals_for, fixed

LEVEL = 0.05

_WORDS = {True: "holds", False: "fails", None: "undecided"}
_SMALL = 1e-6  # a smaller difference has no meaningful digits


class Comparison(NamedTuple):
    """A quantity that is positive, in expectation, if the claim is right."""

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
    """A comparison with its two-sided p value, and its verdict on the claim."""

    comparison: Comparison
    p_value: float
    holds: bool | None  # None: it does not decide

    @property
    def word(self) -> str:
        """The verdict in a word."""
        return _WORDS[self.holds]


class Verdict(NamedTuple):
    """Whether our numbers support a sentence of the paper, and these numbers."""

    claim: str
    holds: bool | None  # None: the numbers do not decide it
    figures: str = ""  # in words, if there are no findings
    number: str = ""
    findings: Sequence[Finding] = ()
    missing: int = 0  # comparisons of things not played yet

    @property
    def word(self) -> str:
        """The verdict in a word."""
        return _WORDS[self.holds]

    @property
    def summary(self) -> str:
        """The verdict and, if some of the claim was not played, how much was."""
        n = len(self.findings)
        return self.word + (f" ({n} of {n + self.missing} played)" if self.missing else "")

    @property
    def weakest(self) -> Finding:
        """The deciding finding: the strongest against the claim, or else the weakest for it."""
        return min(self.findings, key=_in_favour)

    @property
    def in_favour(self) -> int:
        """The number of positive comparisons, significant or not."""
        return sum(finding.comparison.gain.mean > 0.0 for finding in self.findings)


def judge(
    claims: Sequence[Claim], *, level: float = LEVEL, family: int | None = None
) -> list[Verdict]:
    """Return a verdict on every claim, at a family-wise level over all their comparisons.

    `family` is the number of comparisons that share the level, if not just these. It is larger if
    claims were left out, and 1 to give each comparison the full level.
    """
    each = level / (max(1, size_of_family(claims)) if family is None else family)
    verdicts = []
    for number, text, comparisons, missing in claims:
        if not comparisons:
            raise BadParameter(f"claim {number} compares nothing")
        findings = []
        for comparison in comparisons:
            gain, p_value = comparison.gain, p_value_of(comparison.gain, comparison.runs)
            findings.append(
                Finding(comparison, p_value, gain.mean > 0 if p_value <= each else None)
            )
        results = {finding.holds for finding in findings}
        holds = False if False in results else True if results == {True} and not missing else None
        verdicts.append(Verdict(text, holds, "", number, findings, missing))
    return verdicts


def size_of_family(claims: Sequence[Claim]) -> int:
    """Return the number of comparisons that share the level, including those not played yet."""
    return sum(len(claim.comparisons) + claim.missing for claim in claims)


def _in_favour(finding: Finding) -> tuple[float, float]:
    """Return the strength of a finding, negative if against the claim, and its gain in errors.

    The gain breaks ties. Standard errors of different numbers of runs are not comparable: three of
    them are much for a hundred runs and next to nothing for two.
    """
    gain = finding.comparison.gain
    return math.copysign(1.0 - finding.p_value, gain.mean), _t(gain)


def p_value_of(gain: Estimate, runs: int) -> float:
    """Return the probability of a gain this far from 0, in either direction, if there were none."""
    t = _t(gain)
    if math.isinf(t) or t == 0.0:
        return 0.0 if t else 1.0
    return float(2 * stdtr(runs - 1, -abs(t)))


def _t(gain: Estimate) -> float:
    """Return the gain in standard errors, infinite if it never varies, 0 if these are unknown."""
    if gain.se > 0:
        return gain.mean / gain.se
    return math.copysign(math.inf, gain.mean) if gain.mean and gain.se == 0 else 0.0


# -- comparisons of traces -------------------------------------------------------------------------


class Played(NamedTuple):
    """Traces by policy and problem."""

    traces: Sequence[Trace]

    def __call__(self, policy: str, problem: str) -> Trace:
        """Return the trace of one policy on one problem."""
        trace = self.find(policy, problem)
        if trace is None:
            raise BadParameter(f"{policy} was not played on {problem}")
        return trace

    def find(self, policy: str, problem: str) -> Trace | None:
        """Return the trace of one policy on one problem, None if there is none."""
        return next(iter(self.find_all(policy, problem)), None)

    def find_all(self, policy: str, problem: str) -> list[Trace]:
        """Return the traces of one policy on one problem, of all versions that are there."""
        wanted = (policy, problem)
        return [t for t in self.traces if (t.setting.policy, t.setting.problem) == wanted]


def beats(winner: Trace, loser: Trace) -> Comparison:
    """Return the regret that the winner saves against the loser, on the same instances."""
    gain = paired_difference(loser, winner)
    runs = np.intersect1d(winner.runs, loser.runs).size
    what = f"{winner.setting.policy} against {loser.setting.policy}"
    return Comparison(what, winner.setting.problem, "regret", gain, runs)


def earns_more(winner: Trace, loser: Trace) -> Comparison:
    """Return the reward per round that the winner gains on the loser, on the same instances."""
    gain = paired_difference(winner, loser, metric="reward")
    return _of_rewards(
        f"{winner.setting.policy} against {loser.setting.policy}", gain, winner, loser
    )


def earns_the_same(first: Trace, second: Trace, *, margin: float) -> Comparison:
    """Return the margin minus the difference of the two in reward per round.

    It is significantly positive if both one-sided tests of equivalence are significant (Schuirmann,
    1987).
    """
    mean, se, low, high = paired_difference(first, second, metric="reward")
    least = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
    reserve = Estimate(margin - abs(mean), se, margin - max(abs(low), abs(high)), margin - least)
    what = f"{first.setting.policy} within {margin} of {second.setting.policy}"
    return _of_rewards(what, reserve, first, second)


def _of_rewards(what: str, gain: Estimate, first: Trace, second: Trace) -> Comparison:
    runs = np.intersect1d(first.runs, second.runs).size
    return Comparison(what, first.setting.problem, "reward per round", gain, runs)


# -- how regret grows: whether log n or n explains it better ---------------------------------------


def grows_logarithmically(trace: Trace) -> Comparison:
    """Return R² of the fit of mean regret to log n, minus R² of the fit to n."""
    return _comparison(trace, "log fit against linear", 1.0)


def grows_linearly(trace: Trace) -> Comparison:
    """Return R² of the fit of mean regret to n, minus R² of the fit to log n."""
    return _comparison(trace, "linear fit against log", -1.0)


def _comparison(trace: Trace, what: str, sign: float) -> Comparison:
    gain = estimate(sign * log_fit_gains(trace))
    label = f"{trace.setting.policy}, {what}"
    return Comparison(label, trace.setting.problem, "R²", gain, trace.runs.size)


def log_fit_gains(trace: Trace) -> np.ndarray:
    """Return the contribution of each run to R²(log n) - R²(n) of the mean curve, [run].

    A single run is a staircase and shows neither shape. Expected regret is logarithmic. So the fits
    are to the mean over runs, from round n/10 to n, and the uncertainty follows from leaving out
    one run at a time. These are the jackknife's pseudo-values. Their mean is the estimate, and
    their standard error is that of any mean.
    """
    rounds = trace.checkpoints[trace.checkpoints * 10 >= trace.setting.rounds]
    regret = trace.regret[:, -rounds.size :]
    n = trace.runs.size
    of_all = _fit_gain(rounds, regret.mean(axis=0, keepdims=True))
    if n == 1:
        return of_all
    without_one = (regret.sum(axis=0) - regret) / (n - 1)
    return np.asarray(n * of_all - (n - 1) * _fit_gain(rounds, without_one))


def _fit_gain(rounds: np.ndarray, curves: np.ndarray) -> np.ndarray:
    gain = _r_squared(np.log(rounds), curves) - _r_squared(rounds.astype(float), curves)
    return np.asarray(gain)


def _r_squared(x: np.ndarray, curves: np.ndarray) -> np.ndarray:
    """Return the share of each curve's variance that a straight line in x explains, [curve]."""
    x = x - x.mean()
    curves = curves - curves.mean(axis=-1, keepdims=True)
    squares = (x @ x) * (curves**2).sum(axis=-1)
    explained = np.divide((curves @ x) ** 2, squares, where=squares > 0, out=np.zeros(len(curves)))
    return np.asarray(explained)


# -- verdicts as data and tables -------------------------------------------------------------------


def verdict_record(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as plain data, with its figures or its weakest comparison."""
    if not verdict.findings:
        return {"claim": verdict.claim, "verdict": verdict.word, "figures": verdict.figures}
    comparison = verdict.weakest.comparison
    return {
        "number": verdict.number,
        "claim": verdict.claim,
        "verdict": verdict.word,
        "estimate": comparison.gain.mean,
        "se": comparison.gain.se,
        "unit": comparison.unit,
        "weakest": comparison.what,
        "problem": comparison.problem,
        "comparisons": len(verdict.findings),
        "missing": verdict.missing,
    }


def finding_records(verdict: Verdict) -> list[dict[str, Any]]:
    """Return the comparisons of a verdict as plain data."""
    return [
        {
            "number": verdict.number,
            "comparison": finding.comparison.what,
            "problem": finding.comparison.problem,
            "unit": finding.comparison.unit,
            "estimate": finding.comparison.gain.mean,
            "se": finding.comparison.gain.se,
            "runs": finding.comparison.runs,
            "p_value": finding.p_value,
            "verdict": finding.word,
        }
        for finding in verdict.findings
    ]


def verdict_table(verdicts: Sequence[Verdict]) -> tuple[list[Column], list[Record]]:
    """Return a table of verdicts with their figures, or with the comparison that decides."""
    if not any(verdict.findings for verdict in verdicts):
        columns = [
            Column("claim", "statement", words=True),
            Column("verdict"),
            Column("figures", words=True),
        ]
        return columns, [verdict_record(verdict) for verdict in verdicts]
    columns = [
        Column("number", ""),
        Column("claim", words=True),
        Column("verdict"),
        Column("estimate", right=True),
        Column("se", right=True),
        Column("weakest", "weakest comparison", words=True),
    ]
    return columns, [_shown(verdict) for verdict in verdicts]


def _shown(verdict: Verdict) -> Record:
    comparison = verdict.weakest.comparison
    gain = comparison.gain
    error = gain.se if gain.se > _SMALL else abs(gain.mean)
    show = fixed(decimals_for([error]))
    problem = comparison.problem.partition(",n_arms")[0].partition(":n_arms")[0]
    return {
        "number": verdict.number,
        "claim": verdict.claim,
        "verdict": verdict.summary,
        "estimate": show(gain.mean),
        "se": show(gain.se),
        "weakest": f"{comparison.what}, {problem}",
    }
