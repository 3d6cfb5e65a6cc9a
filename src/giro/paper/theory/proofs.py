"""The lemmas and steps of the proofs in Appendices B and C, in numbers (Kveton et al., 2019).

Each function returns one check for each case, so that a lemma or a step can be tried on a grid and
its failures listed. We found:

- Lemma 2 fails only for p = 0, where "the smallest integer" i_0 is -1 and the bound is
  e^-2 f(0), while the sum is f(0). With i_0 >= 0 it holds.
- Lemma 3 holds wherever we tried, though its proof also uses Lemma 4 at y = m for small `a`.
- Lemma 4 fails for x = 0 and x = n, where its right side is infinite. Stirling's upper bound
  in its proof is 0 at k = 0, while 0! = 1.
- Every step of the proofs holds but one: the proof of Theorem 2 sums 1 for each of the pulls
  s = 0..floor(L), L = 8 (2a + 1) / gap^2 log n, as if there were L instead of L + 1. It proves
  b_i <= L + 3 (`bound.counted_pulls_check`). b_i <= L + 2 is true wherever we computed b_i.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import logsumexp
from scipy.stats import binom

from giro.checks import LEVEL, POSITIVE, check, whole
from giro.paper.claims import Verdict
from giro.paper.theory.bound import b_constant, counted_pulls_check, log_c, log_f
from giro.paper.theory.optimism import bernoulli_divergence, log_inverse_optimism, log_optimism
from giro.paper.theory.report import GREY, Report, Table, digits, look, panels, table, text
from giro.paper.theory.terms import (
    Check,
    check_at_least,
    check_at_most,
    check_equals,
    check_trials,
    is_whole,
    log_binomial,
)
from giro.tables import Column

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOG_SCALE = 0.5 * math.log(2 * math.pi) - 2  # log of sqrt(2 pi) / e^2
_FAR = 8  # terms below exp(-8^2) are left out of infinite sums


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


# -- single steps ----------------------------------------------------------------------------------


class OptimismChain(NamedTuple):
    """The logarithms of the successive bounds on W in the proof of Theorem 4, in growing order."""

    w: float
    after_history: float  # Lemma 2
    after_bootstrap: float  # Lemma 3
    after_shift: float  # the sum, centred at 0 and doubled
    bound: float  # the sum, replaced by an integral


def optimism_chain(n: int, p: float, a: float) -> OptimismChain:
    """Return the bounds after each step of the proof of Theorem 4 at one place, for p > 0."""
    b, last = b_constant(a), last_interval(n, p)
    i = np.arange(last + 1)
    x = np.maximum(p * n - (i + 1) * math.sqrt(n), 0)
    tails = np.array([log_optimism(n, p, a, ones) for ones in x])
    scale = 2 + 0.5 * math.log((2 * a + 1) / (2 * math.pi))
    return OptimismChain(
        w=log_inverse_optimism(n, p, a),
        after_history=float(logsumexp(-2 * i**2 - tails)),
        after_bootstrap=scale + float(logsumexp(-2 * i**2 + b * (i + 2) ** 2)),
        after_shift=scale + math.log(2) + log_f(b) + math.log(_gaussian_sum(b, shift=0)),
        bound=log_c(a),
    )


def square_check(b: float, i: int) -> Check:
    """Check 2 i^2 - b (i + 2)^2 = (2 - b) (i - 2b / (2 - b))^2 - 8b / (2 - b)."""
    completed = (2 - b) * (i - 2 * b / (2 - b)) ** 2 - log_f(b)
    return check_equals("completed square", 2 * i**2 - b * (i + 2) ** 2, completed, b=b, i=i)


def shifted_sum_check(b: float) -> Check:
    """Check that the sum centred at 2b / (2 - b) is at most twice the sum centred at 0.

    The sums are over i >= 0, of exp(-(2 - b) (i - centre)^2).
    """
    shifted = _gaussian_sum(b, shift=2 * b / (2 - b))
    return check_at_most("shifted sum", shifted, 2 * _gaussian_sum(b, shift=0), b=b)


def integral_check(b: float) -> Check:
    """Check that the sum of exp(-(2 - b) i^2), i >= 0, is at most 1 + sqrt(2 pi / (4 - 2b)).

    The integral over u >= 0 is half the root. The paper's last step gives the other half away.
    """
    bound = 1 + math.sqrt(2 * math.pi / (4 - 2 * b))
    return check_at_most("integral", _gaussian_sum(b, shift=0), bound, b=b)


def half_integral_check(b: float) -> Check:
    """Check the same with the sharper 1 + sqrt(2 pi / (4 - 2b)) / 2, the integral's value."""
    bound = 1 + math.sqrt(2 * math.pi / (4 - 2 * b)) / 2
    return check_at_most("half integral", _gaussian_sum(b, shift=0), bound, b=b)


def floor_of_root_check(n: int) -> Check:
    """Check floor(sqrt(n)) / sqrt(n) >= 1/2, in the proof of Lemma 3, where n = 3 is closest."""
    return check_at_least("floor of root", math.isqrt(n) / math.sqrt(n), 0.5, n=n)


def small_failure_check(n: int) -> Check:
    """Check n^2 / (n^2 - 1) - 1 <= 1 / n, in the proof of Theorem 2, for n >= 2."""
    return check_at_most("small failure", n**2 / (n**2 - 1) - 1, 1 / n, n=n)


def divergence_check(p: float, q: float) -> Check:
    """Check d(p, q) <= (p - q)^2 / (q (1 - q)), in the proof of Lemma 4."""
    return check_at_most(
        "divergence", float(bernoulli_divergence(p, q)), (p - q) ** 2 / (q * (1 - q)), p=p, q=q
    )


def history_tail_check(n: int, p: float, i: int) -> Check:
    """Check Hoeffding's P(X <= p n - i sqrt(n)) <= exp(-2 i^2), in the proof of Lemma 2."""
    tail = float(binom.cdf(p * n - i * math.sqrt(n), n, p))
    return check_at_most("history tail", tail, math.exp(-2 * i**2), n=n, p=p, i=i)


def deviation_check(s: int, mean: float, gap: float, a: float) -> Check:
    """Check P(X - mean s > gap s / 4) <= exp(-gap^2 s / (8 alpha)), X ~ B(s, mean).

    It is in the proof of Theorem 2. Hoeffding's inequality gives the smaller exp(-gap^2 s / 8).
    """
    tail = float(binom.sf((mean + gap / 4) * s, s, mean))
    bound = math.exp(-(gap**2) * s / (8 * (2 * a + 1)))
    return check_at_most("history deviation", tail, bound, s=s, mean=mean, gap=gap, a=a)


def sample_deviation_check(m: int, ones: int, distance: float) -> Check:
    """Check P(U - ones >= distance) <= exp(-2 distance^2 / m), U ~ B(m, ones / m).

    It is in the proof of Theorem 2, with m = alpha s and distance = gap s / 4.
    """
    tail = float(binom.sf(math.ceil(ones + distance) - 1, m, ones / m))
    bound = math.exp(-2 * distance**2 / m)
    return check_at_most("sample deviation", tail, bound, m=m, ones=ones, distance=distance)


def _gaussian_sum(b: float, *, shift: float) -> float:
    """Return the sum over i >= 0 of exp(-(2 - b) (i - shift)^2), to all digits."""
    reach = math.ceil(shift + _FAR / math.sqrt(2 - b))
    i = np.arange(reach + 1)
    return float(np.exp(-(2 - b) * (i - shift) ** 2).sum())


# -- the report: cases, violations, where, smallest margin -----------------------------------------

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
    """Return the report on the lemmas and steps, for up to `most` trials."""
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


def _proof_checks(most: int) -> dict[str, list[Check]]:
    """Return the steps of the proofs in Appendices B and C, by subject."""
    trials = range(1, most + 1)
    rounds = (100, 1000, 10_000, 100_000)
    counted = [counted_pulls_check(n, gap, 1.0) for n, gap in product(rounds, _GAPS)]
    return {
        "Theorem 4, Lemma 2 to the bound": list(_chains(most)),
        "Theorem 4, completed square": [
            square_check(b, i) for b, i in product(_B, range(20))
        ],
        "Theorem 4, shifted sum": [shifted_sum_check(b) for b in _B],
        "Theorem 4, integral": [integral_check(b) for b in _B],
        "Theorem 4, half the integral": [half_integral_check(b) for b in _B],
        "Lemma 2, Hoeffding": [
            history_tail_check(n, p, i) for n, p, i in product(trials, _P, range(1, 5))
        ],
        "Lemma 3, floor of root": [floor_of_root_check(n) for n in range(1, 10_001)],
        "Lemma 4, divergence": [
            divergence_check(p, q) for p, q in product(_P, _INSIDE)
        ],
        "Theorem 2, history deviates": [
            deviation_check(s, mean, gap, a)
            for s, mean, gap, a in product(trials, _INSIDE, _GAPS, (1.0, 3.0))
        ],
        "Theorem 2, sample deviates": [
            sample_deviation_check(3 * s, ones, gap * s / 4)
            for s, gap in product(trials, _GAPS)
            for ones in range(s, 2 * s + 1)
        ],
        "Theorem 2, small failure": [small_failure_check(n) for n in range(2, 10_001)],
        "Theorem 2, counted pulls (+ 2)": counted,
        "Theorem 2, counted pulls (+ 3)": [
            check_at_most(check.claim, check.lhs, check.rhs + 1, **check.at) for check in counted
        ],
    }  # fmt: skip


def _chains(most: int) -> Iterator[Check]:
    """Yield checks that each bound in the proof of Theorem 4 is at most the next, as logarithms."""
    for n, p, a in product((1, 2, 5, most), (0.05, 0.3, 0.5, 0.9), (1.0, 2.0, 3.0)):
        chain = optimism_chain(n, p, a)
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
