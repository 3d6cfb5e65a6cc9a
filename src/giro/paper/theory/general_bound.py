"""The regret bound of general randomized exploration (Kveton et al., 2019, Theorem 1) in numbers.

Theorem 1 bounds the regret of any policy that pulls the arm with the highest drawn value. Here
it is evaluated for Bernoulli Giro instead of bounded further, as Theorem 2 does. The proof in
Appendix A takes mu_hat <= tau for a failure of the best arm and Q(tau) = P(mu_hat >= tau) for
the chance of its opposite; with mu_hat < tau for a failure the proof is right as it stands.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from giro.checks import check, whole
from giro.errors import BadParameter
from giro.paper.theory.terms import (
    ROUNDING,
    Floats,
    Means,
    SuboptimalArm,
    binomial_tail,
    check_pseudo_rewards,
    check_rounds,
    checked_means,
    log_binomial,
    suboptimal_arms,
)

Integers = NDArray[np.int64]

_DROPPED_MASS = 1e-20  # binomial mass left out below the window of each s, at most
_DROPPED_TERM = 1e-14  # what is left of 1 / Q - 1 above the window of each s, at most
_CHUNK = 500  # pulls s evaluated at once
_STRICTLY = 1 + 1e-12  # Q > 1/n by rounding alone is Q = 1/n


@dataclass(frozen=True)
class ArmTerms:
    """What Theorem 1 says of one suboptimal arm: it is pulled at most a + b times on average."""

    arm: int
    gap: float
    tau: float
    a: float
    b: float

    @property
    def regret(self) -> float:
        """Return the bound on the regret that the arm causes."""
        return self.gap * (self.a + self.b)


@dataclass(frozen=True)
class GeneralBound:
    """The terms of Theorem 1, arm by arm."""

    arms: tuple[ArmTerms, ...]

    @property
    def regret(self) -> float:
        """Return the bound on the regret."""
        return sum(arm.regret for arm in self.arms)


def general_bound(
    means: Means, rounds: int, a: float = 1.0, *, taus: Sequence[float] | None = None
) -> GeneralBound:
    """Return the bound of Theorem 1 on the regret of Bernoulli Giro with any real a >= 0.

    `taus` has one number for each suboptimal arm, in the order of the arms; the default is the
    middle of the two arms' limits, (mu_i + a) / (2a + 1) + gap_i / (4a + 2) (Section 5.2). For
    real `a`, Q is the mixture over the two histories of Section 6.1. What is left out of the
    sums is below rounds^2 1e-20 + rounds 1e-14 for each arm. Costs up to 10 rounds^1.5 binomial
    tails for each arm: 10,000 rounds take seconds.
    """
    arms = suboptimal_arms(means)
    check_rounds(rounds)
    check_pseudo_rewards(a)
    chosen = [middle_tau(arm, a) for arm in arms] if taus is None else list(taus)
    if len(chosen) != len(arms):
        raise BadParameter(f"taus needs {len(arms)} numbers, one a suboptimal arm, got {taus}")
    best, terms = float(checked_means(means).max()), []
    for arm, tau in zip(arms, chosen, strict=True):
        optimism = _Optimism(tau, a)
        a_i = _summed_inverse(optimism, best, rounds)
        b_i = _summed_exceedance(optimism, arm.mean, rounds) + 1
        terms.append(ArmTerms(arm.arm, arm.gap, tau, a_i, b_i))
    return GeneralBound(tuple(terms))


def best_general_bound(
    means: Means, rounds: int, a: float = 1.0, *, candidates: int = 19
) -> GeneralBound:
    """Return Theorem 1 with the best tau of each arm among evenly spaced ones.

    They lie strictly between the arm's limit and the best arm's; an odd number of them includes
    the middle, so the bound is no worse than `general_bound`.
    """
    check("the search", whole(1), candidates=candidates)
    shares = np.arange(1, candidates + 1) / (candidates + 1)
    arms = suboptimal_arms(means)
    bounds = [
        general_bound(
            means, rounds, a, taus=[float(middle_tau(arm, a, share=share)) for arm in arms]
        )
        for share in shares
    ]
    columns = zip(*(bound.arms for bound in bounds), strict=True)
    return GeneralBound(tuple(min(column, key=lambda arm: arm.regret) for column in columns))


def middle_tau(arm: SuboptimalArm, a: float, *, share: float = 0.5) -> float:
    """Return the point that lies `share` of the way from the arm's limit to the best arm's."""
    return (arm.mean + a + share * arm.gap) / (2 * a + 1)


@dataclass(frozen=True)
class _Optimism:
    """Q(tau) of an arm whose `s` >= 1 rewards hold `x` ones, elementwise."""

    tau: float
    a: float

    def __call__(self, s: Integers, x: Integers) -> Floats:
        exact = self.a * s
        nearest = np.rint(exact)
        whole = np.abs(exact - nearest) <= ROUNDING * np.maximum(1.0, exact)
        floor = np.where(whole, nearest, np.floor(exact))
        up = np.where(whole, 0.0, exact - floor)
        lower = self._with_pseudo(s, x, floor)
        if not up.any():
            return lower
        return np.asarray((1 - up) * lower + up * self._with_pseudo(s, x, floor + 1))

    def _with_pseudo(self, s: Integers, x: Integers, k: Floats) -> Floats:
        m = s + 2 * k
        needed = self.tau * m
        y = np.ceil(needed - ROUNDING * np.maximum(1.0, np.abs(needed)))
        return binomial_tail(y, m, (x + k) / m)


def _summed_inverse(optimism: _Optimism, mean: float, rounds: int) -> float:
    """Return sum over s of E[min(1 / Q_{1,s} - 1, n)]; the term of s = 0 is 0."""
    total = 0.0
    for s, x in _windows(optimism, mean, rounds):
        mass = np.exp(log_binomial(x, s, mean))
        total += float(mass @ (1 / np.maximum(optimism(s, x), 1 / (rounds + 1)) - 1))
    return total


def _windows(optimism: _Optimism, mean: float, rounds: int) -> Iterator[tuple[Integers, Integers]]:
    """Yield pairs (s, x), flattened, that hold all but a negligible part of the sum.

    By Hoeffding's inequality the mass below the window of an s is at most _DROPPED_MASS, and
    likewise above it. 1 / Q - 1 falls with x, so the window also ends where that is negligible.
    """
    s = np.arange(1, rounds)
    reach = np.sqrt(-np.log(_DROPPED_MASS) * s / 2)
    low = np.maximum(np.floor(mean * s - reach), 0).astype(np.int64)
    high = np.minimum(np.ceil(mean * s + reach), s).astype(np.int64)
    high = np.minimum(high, _fewest_ones(optimism, s, level=1 - _DROPPED_TERM))
    kept = np.flatnonzero(low <= high)
    for start in range(0, kept.size, _CHUNK):
        chunk = kept[start : start + _CHUNK]
        widths = high[chunk] - low[chunk] + 1
        offsets = np.arange(widths.sum()) - np.repeat(np.cumsum(widths) - widths, widths)
        yield np.repeat(s[chunk], widths), np.repeat(low[chunk], widths) + offsets


def _summed_exceedance(optimism: _Optimism, mean: float, rounds: int) -> float:
    """Return sum over s of P(Q_{i,s} > 1/n), where Q_{i,0} = 1."""
    s = np.arange(1, rounds)
    first = 1.0 if rounds > 1 else 0.0
    enough = _fewest_ones(optimism, s, level=_STRICTLY / rounds)
    return first + float(binomial_tail(enough, s, mean).sum())


def _fewest_ones(optimism: _Optimism, s: Integers, *, level: float) -> Integers:
    """Return for each s the fewest ones with Q > level, s + 1 where none are enough.

    Q rises with the ones, so halving the interval finds it.
    """
    low, high = np.zeros_like(s), s + 1
    while np.any(low < high):
        middle = np.minimum((low + high) // 2, s)
        enough = optimism(s, middle) > level
        unsettled = low < high
        high = np.where(unsettled & enough, middle, high)
        low = np.where(unsettled & ~enough, middle + 1, low)
    return high
