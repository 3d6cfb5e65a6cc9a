"""IMED: pull the arm with the least empirical divergence (Honda and Takemura, 2015)."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import Ties, beats_in_tie, tie_ranking
from giro.offer import of_arms
from giro.policies.kl_ucb import kl
from giro.policy import Case, Offer, Policy, Shape


class _State(NamedTuple):
    pulls: np.ndarray  # [arm]
    total: np.ndarray  # [arm] sum of rewards
    mean: np.ndarray  # [arm]
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    """Return the arm with the least index, without computing most of the indices.

    Pinsker's inequality, kl >= 2 (highest - mean)^2, often shows that an index is higher.
    """
    highest = highest_mean(state.mean, offer.arms)
    best, least, tied = int(offer.arms[0]), np.inf, 1
    for arm in offer.arms:
        s, distance = state.pulls[arm], highest - state.mean[arm]
        if s > 0 and 2.0 * s * distance * distance > least:
            continue
        index = _index(state, arm, highest)
        if index < least:
            best, least, tied = int(arm), index, 1
        elif index == least:
            tied += 1
            if beats_in_tie(arm, best, tied, state.ranking, rng):
                best = int(arm)
    return best


@kernel
def highest_mean(mean: np.ndarray, arms: np.ndarray) -> float:
    """Return the highest of means[arm] of these arms."""
    highest = mean[arms[0]]
    for arm in arms:
        highest = max(highest, mean[arm])
    return float(highest)


@kernel
def _index(state: _State, arm: int, highest: float) -> float:
    """Return s kl(mean, highest) + log s, minus infinity for an arm never pulled."""
    s = state.pulls[arm]
    return s * kl(state.mean[arm], highest) + math.log(s) if s > 0 else -np.inf


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    state.pulls[arm] += 1
    state.total[arm] += reward
    state.mean[arm] = min(state.total[arm] / state.pulls[arm], 1.0)


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    highest = highest_mean(state.mean, offer.arms)
    indices = np.array([-_index(state, arm, highest) for arm in offer.arms])
    return argmax_probabilities(indices, of_arms(state.ranking, offer.arms))


@dataclass(frozen=True)
class Imed(Policy, name="imed"):
    """Pulls the arm with the least s kl(mean, highest mean) + log s, for s rewards.

    The first term is how unlikely the arm's rewards are if it is as good as the best one. kl is the
    divergence of Bernoulli distributions. On Bernoulli arms the regret reaches the limit of Lai and
    Robbins. An arm that was never pulled goes first.

    Differs from the paper: rewards inside (0, 1) enter by their mean alone. The paper's divergence
    looks at all of them, which would cost s in each round. So the limit is that of Bernoulli arms
    with the same means, whatever the rewards.
    """

    source = "Honda and Takemura 2015"
    uses_contexts = False
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    ties: Ties = field(default="random", kw_only=True)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return counts and sums of zero."""
        pulls, (total, mean) = np.zeros(shape.n_arms, np.int64), np.zeros((2, shape.n_arms))
        return _State(pulls, total, mean, tie_ranking(self.ties, shape.n_arms, rng))
