"""Terms that the statements of the paper share, and checks of a statement in numbers.

The terms are means, gaps and rounds (Kveton et al., 2019, Section 2), the number of pseudo rewards
of each kind in an arm's history if `a` is any real number (Section 6.1), and binomial probabilities
and tails, in logarithms if they would vanish otherwise. A check has both sides of a statement, the
margin by which it holds, and whether it does.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, gammaln, logsumexp, xlog1py, xlogy

from giro.checks import NOT_NEGATIVE, SHARE, check, whole
from giro.errors import BadParameter

Floats = NDArray[np.float64]
Means = Sequence[float] | Floats

ROUNDING = 1e-9  # a value this close to an integer, relative to max(1, value), is that integer
SLACK = 1e-9  # rounding error allowed in a statement that holds with equality


# -- means and gaps --------------------------------------------------------------------------------


class SuboptimalArm(NamedTuple):
    """An arm that is not the best one. Arms are counted from 0."""

    arm: int
    mean: float
    gap: float


def checked_means(means: Means) -> Floats:
    """Check that means lie in [0, 1], and return those of one arm or more as an array."""
    checked = np.asarray(means, dtype=np.float64)
    if checked.ndim != 1 or checked.size == 0:
        raise BadParameter(f"means must be a list with a number for each arm, got {means!r}")
    if not np.all((checked >= 0) & (checked <= 1)):
        raise BadParameter(f"means must lie in [0, 1], got {checked.tolist()}")
    return checked


def suboptimal_arms(means: Means) -> list[SuboptimalArm]:
    """Return every arm except the best, which must be the only best one.

    In Kveton et al. (2019), Section 2, the best arm comes first. Here it may be anywhere.
    """
    checked = checked_means(means)
    best = float(checked.max())
    if np.count_nonzero(checked == best) > 1:
        raise BadParameter(f"the best arm must be the only one with its mean, got {means!r}")
    return [
        SuboptimalArm(arm, float(mean), best - float(mean))
        for arm, mean in enumerate(checked)
        if mean < best
    ]


def check_rounds(rounds: int, *, at_least: int = 1) -> None:
    """Check rounds >= at_least."""
    check("this formula", whole(at_least), rounds=rounds)


# -- pseudo rewards --------------------------------------------------------------------------------


class PseudoCounts(NamedTuple):
    """The two histories of an arm: with `floor` and with `ceil` pseudo rewards of each kind."""

    floor: int
    ceil: int
    probability_of_ceil: float


def pseudo_counts(a: float, s: int) -> PseudoCounts:
    """Return floor(a s), ceil(a s) and the probability a s - floor(a s) of the latter.

    Kveton et al. (2019), Section 6.1. A product that differs from an integer only by rounding is
    that integer, and then floor and ceil are the same:

    >>> pseudo_counts(1 / 3, 3)
    PseudoCounts(floor=1, ceil=1, probability_of_ceil=0.0)
    >>> pseudo_counts(0.5, 3)
    PseudoCounts(floor=1, ceil=2, probability_of_ceil=0.5)
    """
    check_pseudo_rewards(a)
    exact = a * s
    if is_whole(exact):
        return PseudoCounts(round(exact), round(exact), 0.0)
    floor = math.floor(exact)
    return PseudoCounts(floor, floor + 1, exact - floor)


def whole_pseudo_count(a: float, s: int) -> int:
    """Return a s if it is an integer, as most formulas of the paper assume."""
    counts = pseudo_counts(a, s)
    if counts.floor != counts.ceil:
        raise BadParameter(
            f"this formula needs a * s to be an integer, got a={a}, s={s}, a * s={a * s}"
        )
    return counts.floor


def check_pseudo_rewards(a: float) -> None:
    """Check that a >= 0 is finite."""
    check("giro", NOT_NEGATIVE, a=a)


def is_whole(value: float) -> bool:
    """Return whether a value differs from an integer only by rounding."""
    return abs(value - round(value)) <= ROUNDING * max(1.0, abs(value))


def rounded_up(value: float) -> int:
    """Return the smallest integer >= value, up to rounding errors of the value.

    >>> rounded_up(10 * (0.1 + 0.2)), rounded_up(3.1)
    (3, 4)
    """
    return round(value) if is_whole(value) else math.ceil(value)


# -- binomial probabilities ------------------------------------------------------------------------


def log_binomial(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Floats:
    """Return log of the binomial probability of x, elementwise, -inf if it is 0."""
    x, n, p = np.asarray(x), np.asarray(n), np.asarray(p)
    with np.errstate(divide="ignore"):
        powers = xlogy(x, p) + xlog1py(n - x, -p)
    choices = gammaln(n + 1) - gammaln(x + 1) - gammaln(n - x + 1)
    return np.asarray(choices + powers, dtype=np.float64)


def binomial_tail(y: ArrayLike, n: ArrayLike, p: ArrayLike) -> Floats:
    """Return P(Y >= y) for Y ~ B(n, p), elementwise, with 1 for y <= 0 and 0 for y > n."""
    y, n, p = np.broadcast_arrays(y, n, p)
    inside = np.clip(y, 1, np.maximum(n, 1))
    tail = betainc(inside, np.maximum(n, 1) - inside + 1, p)
    return np.asarray(np.where(y <= 0, 1.0, np.where(y > n, 0.0, tail)), dtype=np.float64)


def log_binomial_tail(y: int, n: int, p: float) -> float:
    """Return log P(Y >= y) for Y ~ B(n, p), however small, at one term per outcome."""
    if y <= 0:
        return 0.0
    if y > n:
        return -np.inf
    return float(min(0.0, logsumexp(log_binomial(np.arange(y, n + 1), n, p))))


def check_trials(n: int, p: float) -> None:
    """Check n >= 1 and 0 <= p <= 1."""
    check("a binomial distribution", whole(1), n=n)
    check("a binomial distribution", SHARE, p=p)


# -- checks ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Check:
    """One statement at one place, with a negative `margin` if the statement fails."""

    claim: str
    lhs: float
    rhs: float
    margin: float
    at: dict[str, float] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether the statement is true up to rounding."""
        finite = [abs(side) for side in (self.lhs, self.rhs) if abs(side) != float("inf")]
        return self.margin >= -SLACK * max([1.0, *finite])


def check_at_most(claim: str, lhs: float, rhs: float, **at: float) -> Check:
    """Return the check of lhs <= rhs."""
    return Check(claim, float(lhs), float(rhs), _difference(rhs, lhs), _plain(at))


def check_at_least(claim: str, lhs: float, rhs: float, **at: float) -> Check:
    """Return the check of lhs >= rhs."""
    return Check(claim, float(lhs), float(rhs), _difference(lhs, rhs), _plain(at))


def check_equals(claim: str, lhs: float, rhs: float, **at: float) -> Check:
    """Return the check of lhs = rhs."""
    return Check(claim, float(lhs), float(rhs), -abs(_difference(lhs, rhs)), _plain(at))


def _difference(larger: float, smaller: float) -> float:
    return 0.0 if larger == smaller else float(larger - smaller)


def _plain(at: dict[str, float]) -> dict[str, float]:
    return {name: np.asarray(value).item() for name, value in at.items()}
