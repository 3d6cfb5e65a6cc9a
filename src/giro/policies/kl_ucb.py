"""KL-UCB: the highest mean that the rewards do not yet rule out (Garivier and Cappé, 2011)."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import NotNegative
from giro.compiling import kernel
from giro.kernels.draws.uniform import bernoulli_rounded
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import Ties, beats_in_tie, tie_ranking
from giro.offer import of_arms
from giro.policy import Case, Offer, Policy, Shape

_MARGIN = 1e-10  # far above the error of an index, so that no tie is missed
_LAST_STEP = 4e-16  # relative step at which Newton's method has converged


class _State(NamedTuple):
    pulls: np.ndarray  # [arm]
    total: np.ndarray  # [arm] sum of rewards, rounded to 0 or 1
    c: float  # weight of log log t
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    """Return the arm with the highest index, without computing most of the indices.

    The most pulled arm comes first, because it usually wins. The index of another arm is computed
    only if it can reach the best one so far.
    """
    pulls, first = _pulls_of(state, offer.arms)
    budget, best = _budget(pulls + 1, state.c), first
    highest, tied = _index(state, best, budget), 1
    for arm in offer.arms:
        if arm == first or _is_below(state, arm, highest, budget):
            continue
        index = _index(state, arm, budget)
        if index > highest:
            best, highest, tied = int(arm), index, 1
        elif index == highest:
            tied += 1
            if beats_in_tie(arm, best, tied, state.ranking, rng):
                best = int(arm)
    return best


@kernel
def _pulls_of(state: _State, arms: np.ndarray) -> tuple[int, int]:
    """Return the sum of the pulls of these arms, and the most pulled arm."""
    pulls, most = 0, int(arms[0])
    for arm in arms:
        pulls += state.pulls[arm]
        if state.pulls[arm] > state.pulls[most]:
            most = int(arm)
    return pulls, most


@kernel
def _budget(t: int, c: float) -> float:
    """Return log t + c log log t in round t, with log log t replaced by 0 where it is negative."""
    log_t = math.log(t)
    return log_t + c * math.log(max(log_t, 1.0))


@kernel
def _index(state: _State, arm: int, budget: float) -> float:
    """Return the largest q with n kl(mean, q) <= budget, infinity for an arm never pulled."""
    n = state.pulls[arm]
    return kl_upper(state.total[arm] / n, budget / n) if n > 0 else np.inf


@kernel
def _is_below(state: _State, arm: int, highest: float, budget: float) -> bool:
    """Return whether the arm's index is less than `highest`, without solving for it.

    Pinsker's inequality, kl >= 2 (q - mean)^2, often decides without a logarithm.
    """
    n = state.pulls[arm]
    if n == 0 or highest == np.inf:
        return bool(n > 0)
    mean, q = state.total[arm] / n, highest - _MARGIN
    if q <= mean:
        return False
    return bool(2.0 * n * (q - mean) ** 2 > budget or n * kl(mean, q) > budget)


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    state.pulls[arm] += 1
    state.total[arm] += bernoulli_rounded(reward, rng)


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    budget = _budget(_pulls_of(state, offer.arms)[0] + 1, state.c)
    indices = np.array([_index(state, arm, budget) for arm in offer.arms])
    return argmax_probabilities(indices, of_arms(state.ranking, offer.arms))


@kernel
def kl(p: float, q: float) -> float:
    """Return the divergence of Ber(q) from Ber(p), p log(p/q) + (1-p) log((1-p)/(1-q)).

    It is infinite if q is 0 or 1 and p is not. Close to p its relative error is the rounding error
    divided by the distance q - p.
    """
    if q <= 0.0 or q >= 1.0:
        return 0.0 if p == q else np.inf
    return _log_ratio(p, q, q - p) + _log_ratio(1.0 - p, 1.0 - q, p - q)


@kernel
def _log_ratio(p: float, q: float, gap: float) -> float:
    """Return p log(p/q) for q = p + gap, exactly 0 for p = 0."""
    if p == 0.0:
        return 0.0
    if abs(gap) < 0.5 * p:  # p/q is close to 1: keep the digits of the gap
        return -p * math.log1p(gap / p)
    return p * math.log(p / q)


@kernel
def kl_upper(p: float, level: float) -> float:
    """Return the largest q in [p, 1] with kl(p, q) <= level, to the last digits.

    This is Newton's method from the right: kl(p, .) is convex and increases from p on, so each step
    stays at or above the solution. The start is the smaller of two upper bounds, by Pinsker's
    inequality and by p log(p/q) >= p log p.
    """
    if p >= 1.0 or level <= 0.0:
        return p
    if p <= 0.0:
        return -math.expm1(-level)
    tail = (1.0 - p) * math.exp((p * math.log(p) - level) / (1.0 - p))
    q = min(p + math.sqrt(0.5 * level), 1.0 - tail)
    while p < q < 1.0:
        step = (kl(p, q) - level) * q * (1.0 - q) / (q - p)
        if step <= _LAST_STEP * q:
            break
        q -= step
    return q


@dataclass(frozen=True)
class KlUcb(Policy, name="kl-ucb"):
    """Pulls the arm with the highest q for which pulls x kl(mean, q) <= log t + c log log t.

    t counts the pulls of the arms on offer, this one included. A reward inside (0, 1) is first
    rounded at random to 0 or 1 with the same mean, as in Kveton et al. (2019), Section 6.1.

    Differs from the paper: log log t is taken as 0 up to round 2, where it is negative.
    """

    source = "Garivier and Cappé 2011, Algorithm 1"
    uses_contexts = False
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    c: NotNegative = 3.0
    ties: Ties = field(default="random", kw_only=True)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return counts and sums of zero."""
        n_arms, ranking = shape.n_arms, tie_ranking(self.ties, shape.n_arms, rng)
        return _State(np.zeros(n_arms, np.int64), np.zeros(n_arms), float(self.c), ranking)
