"""KL-UCB: the highest mean that the rewards do not yet rule out (Garivier and Cappé, 2011)."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import NOT_NEGATIVE, check
from giro.compiling import kernel
from giro.kernels.draws.uniform import bernoulli_rounded
from giro.kernels.highest.kl import kl, kl_upper
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import Ties, beats_in_tie, tie_ranking
from giro.offer import of_arms
from giro.policy import Case, Offer, Policy, Shape

_MARGIN = 1e-10  # far above the error of an index, so that no tie is missed


class _State(NamedTuple):
    pulls: np.ndarray  # [arm]
    total: np.ndarray  # [arm] sum of rewards, rounded to 0 or 1
    c: float  # weight of log log t
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    """Return the arm with the highest index; most indices need not be computed for that.

    The most pulled arm comes first, as it mostly wins; another arm is looked at only if its index
    can reach the best one so far.
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
    """Return the pulls of these arms together, and the first of those pulled most."""
    pulls, most = 0, int(arms[0])
    for arm in arms:
        pulls += state.pulls[arm]
        if state.pulls[arm] > state.pulls[most]:
            most = int(arm)
    return pulls, most


@kernel
def _budget(t: int, c: float) -> float:
    """Return log t + c log log t in round t, with log log t taken as 0 where it is negative."""
    log_t = math.log(t)
    return log_t + c * math.log(max(log_t, 1.0))


@kernel
def _index(state: _State, arm: int, budget: float) -> float:
    """Return the largest q with n kl(mean, q) <= budget, infinity for an arm never pulled."""
    n = state.pulls[arm]
    return kl_upper(state.total[arm] / n, budget / n) if n > 0 else np.inf


@kernel
def _is_below(state: _State, arm: int, highest: float, budget: float) -> bool:
    """Tell, without solving for it, that the arm's index is less than `highest`.

    Pinsker's inequality, kl >= 2 (q - mean)^2, often tells it without a logarithm.
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
    return argmax_probabilities(_indices(state, offer.arms), of_arms(state.ranking, offer.arms))


@kernel
def _indices(state: _State, arms: np.ndarray) -> np.ndarray:
    budget = _budget(_pulls_of(state, arms)[0] + 1, state.c)
    return np.array([_index(state, arm, budget) for arm in arms])


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

    c: float = 3.0
    ties: Ties = field(default="random", kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        check(self.name, NOT_NEGATIVE, c=self.c)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return counts and sums of zero."""
        n_arms, ranking = shape.n_arms, tie_ranking(self.ties, shape.n_arms, rng)
        return _State(np.zeros(n_arms, np.int64), np.zeros(n_arms), float(self.c), ranking)
