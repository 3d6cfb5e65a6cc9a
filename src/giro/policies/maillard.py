"""Maillard sampling: arms are drawn by the likelihood that they are the best (Maillard, 2013)."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.draws.continuous import standard_exponential
from giro.kernels.draws.uniform import integer_below
from giro.policies.imed import highest_mean
from giro.policies.kl_ucb import kl
from giro.policy import Case, Offer, Policy, Shape


class _State(NamedTuple):
    pulls: np.ndarray  # [arm]
    total: np.ndarray  # [arm] sum of rewards
    mean: np.ndarray  # [arm]


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    """Return an arm drawn uniformly and kept with probability exp(-s kl), or another one.

    An exponential variable is at least s kl with that probability. By Pinsker's inequality,
    kl >= 2 (highest - mean)^2, it is often seen to be less without a logarithm.
    """
    arms = offer.arms
    untried = _untried(state, arms)
    if untried > 0:
        return _untried_arm(state, arms, integer_below(untried, rng))
    highest = highest_mean(state.mean, arms)
    while True:
        arm = int(arms[integer_below(arms.size, rng)])
        s, distance = state.pulls[arm], highest - state.mean[arm]
        if distance == 0.0:
            return arm
        patience = standard_exponential(rng)
        if patience >= 2.0 * s * distance * distance and patience >= s * kl(
            state.mean[arm], highest
        ):
            return arm


@kernel
def _untried(state: _State, arms: np.ndarray) -> int:
    """Return how many of these arms were never pulled."""
    untried = 0
    for arm in arms:
        untried += state.pulls[arm] == 0
    return untried


@kernel
def _untried_arm(state: _State, arms: np.ndarray, place: int) -> int:
    """Return the arm at a place among those never pulled."""
    for arm in arms:
        if state.pulls[arm] == 0:
            if place == 0:
                return int(arm)
            place -= 1
    return -1


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    state.pulls[arm] += 1
    state.total[arm] += reward
    state.mean[arm] = min(state.total[arm] / state.pulls[arm], 1.0)


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    arms, law = offer.arms, np.empty(offer.arms.size)
    untried, highest = _untried(state, arms), highest_mean(state.mean, arms)
    for i in range(arms.size):
        s, mean = state.pulls[arms[i]], state.mean[arms[i]]
        if untried > 0:
            law[i] = 1.0 if s == 0 else 0.0
        else:
            law[i] = math.exp(-s * kl(mean, highest))
    return np.asarray(law / law.sum())


@dataclass(frozen=True)
class Maillard(Policy, name="maillard"):
    """Draws an arm with a probability in proportion to exp(-s kl(mean, highest mean)).

    This is KL-MS. s are the arm's rewards, and kl is the divergence of Bernoulli distributions. Of
    rewards in [0, 1] only the means count. On Bernoulli arms the regret reaches the limit of Lai
    and Robbins. The probabilities have a closed form, which makes them good propensities. Arms that
    were never pulled go first, in random order.
    """

    source = "Maillard 2013; Qin, Jun and Zhang 2023, Algorithm 1"
    uses_contexts = False
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return counts and sums of zero."""
        pulls, (total, mean) = np.zeros(shape.n_arms, np.int64), np.zeros((2, shape.n_arms))
        return _State(pulls, total, mean)
