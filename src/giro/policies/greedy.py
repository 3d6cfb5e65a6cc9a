"""Greedy: pull the arm with the highest mean, follow the leader."""

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
    means: np.ndarray  # [arm] infinite for an untried arm
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, context: Context, rng: np.random.Generator) -> int:
    return argmax(state.means, state.ranking, rng)


@kernel
def _learn(
    state: _State, context: Context, arm: int, reward: float, rng: np.random.Generator
) -> None:
    state.pulls[arm] += 1
    state.total[arm] += reward
    state.means[arm] = state.total[arm] / state.pulls[arm]


def _propensities(state: _State, context: Context) -> np.ndarray:
    return argmax_law(state.means, state.ranking)


@dataclass(frozen=True)
class Greedy(Policy, name="greedy"):
    """Pulls the arm with the highest mean, untried arms first; never explores again."""

    source = "Sutton and Barto 2018, Section 2.2"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    ties: Ties = field(default="random", kw_only=True)

    def start(self, n_arms: int, n_features: int, rounds: int, rng: np.random.Generator) -> _State:
        """Return counts and sums of zero."""
        return _State(
            np.zeros(n_arms, np.int64),
            np.zeros(n_arms),
            np.full(n_arms, np.inf),
            tie_ranking(self.ties, n_arms, rng),
        )
