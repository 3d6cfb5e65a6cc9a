"""UCB1: pull the arm with the highest upper confidence bound (Auer et al., 2002, Figure 1)."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.kernel import kernel
from giro.kernels.ties import Ties, argmax, tie_ranking
from giro.kernels.winning_law import argmax_law
from giro.policy import Context, Policy


class _State(NamedTuple):
    pulls: np.ndarray  # [arm]
    total: np.ndarray  # [arm] sum of rewards
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, context: Context, rng: np.random.Generator) -> int:
    return argmax(_bounds(state), state.ranking, rng)


@kernel
def _bounds(state: _State) -> np.ndarray:
    """Return the upper confidence bound of each arm, infinity for an arm never pulled."""
    bounds = np.full(state.pulls.size, np.inf)
    n = state.pulls.sum()
    for arm in range(bounds.size):
        n_j = state.pulls[arm]
        if n_j > 0:
            bounds[arm] = state.total[arm] / n_j + math.sqrt(2 * math.log(n) / n_j)
    return bounds


@kernel
def _learn(
    state: _State, context: Context, arm: int, reward: float, rng: np.random.Generator
) -> None:
    state.pulls[arm] += 1
    state.total[arm] += reward


def _propensities(state: _State, context: Context) -> np.ndarray:
    return argmax_law(_bounds(state), state.ranking)


@dataclass(frozen=True)
class Ucb1(Policy, name="ucb1"):
    """Pulls the arm with the highest mean plus sqrt(2 log n / pulls)."""

    source = "Auer et al. 2002, Figure 1"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    ties: Ties = field(default="random", kw_only=True)

    def start(self, n_arms: int, n_features: int, rounds: int, rng: np.random.Generator) -> _State:
        """Return counts and sums of zero."""
        return _State(
            np.zeros(n_arms, np.int64), np.zeros(n_arms), tie_ranking(self.ties, n_arms, rng)
        )
