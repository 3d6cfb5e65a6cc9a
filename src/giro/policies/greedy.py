"""Greedy: pull the arm with the highest mean, follow the leader."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import Ties, argmax, tie_ranking
from giro.offer import of_arms
from giro.policy import Case, Offer, Policy, Shape


class _State(NamedTuple):
    pulls: np.ndarray  # [arm]
    total: np.ndarray  # [arm] sum of rewards
    means: np.ndarray  # [arm] infinite for an untried arm
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    arms = offer.arms
    if arms.size == state.means.size:  # all arms: nothing needs to be copied
        return argmax(state.means, arms, state.ranking, rng)
    return argmax(state.means[arms], arms, state.ranking, rng)


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    state.pulls[arm] += 1
    state.total[arm] += reward
    state.means[arm] = state.total[arm] / state.pulls[arm]


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    return argmax_probabilities(
        of_arms(state.means, offer.arms), of_arms(state.ranking, offer.arms)
    )


@dataclass(frozen=True)
class Greedy(Policy, name="greedy"):
    """Pulls the arm with the highest mean, untried arms first; never explores again."""

    source = "Sutton and Barto 2018, Section 2.2"
    uses_contexts = False
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    ties: Ties = field(default="random", kw_only=True)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return counts and sums of zero."""
        return _State(
            np.zeros(shape.n_arms, np.int64),
            np.zeros(shape.n_arms),
            np.full(shape.n_arms, np.inf),
            tie_ranking(self.ties, shape.n_arms, rng),
        )
