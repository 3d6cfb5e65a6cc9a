"""The regret bound of Bernoulli Giro, term by term (Kveton et al., 2019, Theorem 2).

The constant c is e^27.6 for a = 1 and beyond any float as `a` nears 1 / sqrt(2), so whatever
contains it is kept as a logarithm. Section 5.3 says that the bound increases with `a`. Because
of c it falls until a = 6.94 and rises only then; Theorem 1 in numbers does increase where we tried.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import logsumexp

from giro.errors import BadParameter
from giro.paper.theory.terms import (
    Check,
    Means,
    SuboptimalArm,
    check_at_most,
    check_rounds,
    suboptimal_arms,
)

_LARGEST_LOG = math.log(np.finfo(np.float64).max)


@dataclass(frozen=True)
class ArmBound:
    """What Theorem 2 grants one suboptimal arm: bounds on a_i and b_i of Theorem 1."""

    arm: int
    gap: float
    log_a: float  # log of (16 (2a + 1) c / gap^2) log n + 2
    b: float  # (8 (2a + 1) / gap^2) log n + 2

    @property
    def log_pulls(self) -> float:
        """Return the logarithm of the bound on the arm's expected pulls."""
        return float(np.logaddexp(self.log_a, math.log(self.b)))

    @property
    def log_regret(self) -> float:
        """Return the logarithm of the bound on the regret that the arm causes."""
        return math.log(self.gap) + self.log_pulls


@dataclass(frozen=True)
class GiroBound:
    """The terms of Theorem 2 and the bound on the regret that they add up to."""

    b: float
    log_f: float
    log_c: float
    arms: tuple[ArmBound, ...]

    @property
    def log_regret(self) -> float:
        """Return the logarithm of the bound on the regret."""
        return float(logsumexp([arm.log_regret for arm in self.arms]))

    @property
    def regret(self) -> float:
        """Return the bound on the regret, infinity where no float is large enough."""
        return math.exp(self.log_regret) if self.log_regret < _LARGEST_LOG else math.inf


def giro_bound(means: Means, rounds: int, a: float = 1.0) -> GiroBound:
    """Return the bound of Theorem 2 on the regret of Giro after `rounds` >= 2 rounds.

    Kveton et al. (2019), Theorem 2 (Equation 9), for a > 1 / sqrt(2). The proof covers integers
    `a` only: Theorem 4, on which it rests, needs (2a + 1) s to be an integer for every s. Its
    count of the rounds in b_i starts at s = 1 and so misses the term s = 0 (`counted_pulls_check`).
    """
    arms = _some_suboptimal_arms(means)
    check_rounds(rounds, at_least=2)
    return _bound(arms, math.log(rounds), a)


def cheapest_a(means: Means, rounds: int) -> float:
    """Return the `a` for which the bound is smallest; it falls before and rises after.

    Since c hides all else, it hardly depends on the problem:

    >>> round(cheapest_a([0.7, 0.4], 10_000), 2), round(cheapest_a([0.9, 0.1], 100), 2)
    (6.94, 6.94)
    """
    arms = _some_suboptimal_arms(means)
    check_rounds(rounds, at_least=2)
    found = minimize_scalar(
        lambda a: _bound(arms, math.log(rounds), a).log_regret,
        bounds=(0.8, 100.0),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return float(found.x)


def log_useful_rounds(means: Means, a: float = 1.0) -> float:
    """Return the logarithm of the rounds n after which the bound says something.

    Before that it is above n times the largest gap, which no policy's regret exceeds.
    """
    arms = _some_suboptimal_arms(means)
    largest = math.log(max(arm.gap for arm in arms))
    return float(
        brentq(
            lambda log_n: _bound(arms, log_n, a).log_regret - largest - log_n,
            math.log(2),  # here 4 gap > 2 gap
            100 + 10 * (log_c(a) - 2 * min(math.log(arm.gap) for arm in arms) + len(arms)),
        )
    )


def b_constant(a: float) -> float:
    """Return b = (2a + 1) / (a (a + 1)), which has to be below 2, so a > 1 / sqrt(2)."""
    if not (math.isfinite(a) and a > 1 / math.sqrt(2)):
        raise BadParameter(f"the bound needs a > 1 / sqrt(2) = 0.7071..., got a={a}")
    return (2 * a + 1) / (a * (a + 1))


def log_f(b: float) -> float:
    """Return log f(b) = 8b / (2 - b), the part of c that makes it large (Section 5.3).

    >>> [round(log_f(b_constant(a)), 1) for a in (1, 2, 3)]
    [24.0, 5.7, 3.3]
    """
    if not 0 < b < 2:
        raise BadParameter(f"f(b) is defined for 0 < b < 2, got b={b}")
    return 8 * b / (2 - b)


def log_c(a: float) -> float:
    """Return log c, where c bounds the expected inverse probability of being optimistic.

    Kveton et al. (2019), Theorem 2:
    c = 2 e^2 sqrt(2a + 1) / sqrt(2 pi) f(b) (1 + sqrt(2 pi / (4 - 2b))).
    """
    b = b_constant(a)
    scale = math.log(2) + 2 + 0.5 * math.log((2 * a + 1) / (2 * math.pi))
    return scale + log_f(b) + math.log1p(math.sqrt(2 * math.pi / (4 - 2 * b)))


def counted_pulls_check(rounds: int, gap: float, a: float) -> Check:
    """Return what the proof of Theorem 2 adds up for b_i, against the L + 2 it states.

    With L = 8 (2a + 1) / gap^2 log n: 1 for each s = 0..floor(L), 1 / n for each larger s < n, and
    1. It fails unless L >= n - 1.
    """
    large = 8 * (2 * a + 1) / gap**2 * math.log(rounds)
    small_pulls = min(math.floor(large) + 1, rounds)
    proved = small_pulls + (rounds - small_pulls) / rounds + 1
    return check_at_most("counted pulls", proved, large + 2, rounds=rounds, gap=gap, a=a)


def _some_suboptimal_arms(means: Means) -> list[SuboptimalArm]:
    arms = suboptimal_arms(means)
    if not arms:
        raise BadParameter(f"a bound on the regret needs two arms or more, got means={means!r}")
    return arms


def _bound(arms: list[SuboptimalArm], log_rounds: float, a: float) -> GiroBound:
    b, terms = b_constant(a), []
    for arm in arms:
        needed = 8 * (2 * a + 1) / arm.gap**2 * log_rounds
        log_a = float(np.logaddexp(math.log(2 * needed) + log_c(a), math.log(2)))
        terms.append(ArmBound(arm=arm.arm, gap=arm.gap, log_a=log_a, b=needed + 2))
    return GiroBound(b=b, log_f=log_f(b), log_c=log_c(a), arms=tuple(terms))
