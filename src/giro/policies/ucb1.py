"""UCB1: pull the arm with the highest upper confidence bound (Auer et al., 2002, Figure 1)."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.compiling import inline_kernel, kernel
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import Ties, argmax, tie_ranking
from giro.offer import of_arms
from giro.policy import Case, Offer, Policy, Shape


class _State(NamedTuple):
    pulls: np.ndarray  # [arm]
    total: np.ndarray  # [arm] sum of rewards
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    return argmax(_bounds(state, offer.arms), offer.arms, state.ranking, rng)


@inline_kernel
def _bounds(state: _State, arms: np.ndarray) -> np.ndarray:
    """Return the upper confidence bound of each of these arms, infinity for one never pulled."""
    if arms.size == state.pulls.size:  # all arms: nothing needs to be copied
        return _bounds_of(state.pulls, state.total)
    return _bounds_of(state.pulls[arms], state.total[arms])


@inline_kernel
def _bounds_of(pulls: np.ndarray, total: np.ndarray) -> np.ndarray:
    bounds = np.full(pulls.size, np.inf)
    n = pulls.sum()
    for i in range(bounds.size):
        n_j = pulls[i]
        if n_j > 0:
            bounds[i] = total[i] / n_j + math.sqrt(2 * math.log(n) / n_j)
    return bounds


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    state.pulls[arm] += 1
    state.total[arm] += reward


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    return argmax_probabilities(_bounds(state, offer.arms), of_arms(state.ranking, offer.arms))


@dataclass(frozen=True)
class Ucb1(Policy, name="ucb1"):
    """Pulls the arm with the highest mean plus sqrt(2 log n / pulls), n those of all on offer."""

    source = "Auer et al. 2002, Figure 1"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    ties: Ties = field(default="random", kw_only=True)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return counts and sums of zero."""
        return _State(
            np.zeros(shape.n_arms, np.int64),
            np.zeros(shape.n_arms),
            tie_ranking(self.ties, shape.n_arms, rng),
        )
