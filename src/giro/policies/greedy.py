"""Greedy: pull the arm with the highest mean, follow the leader."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import Ties, argmax, tie_ranking
from giro.model import Model
from giro.offer import of_arms
from giro.policies._greedy_models import MeansOrModels, start_by_model
from giro.policy import Case, Offer, Shape


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
class Greedy(MeansOrModels, name="greedy"):
    """Pulls the arm with the highest mean, untried arms first, and never explores again.

    With a `model` (linear, hashed, another of `giro.models`, or from Python a scikit-learn
    estimator), the mean is the prediction of the arm's model in the context. Arms with features
    share one model.
    """

    source = "Sutton and Barto 2018, Section 2.2"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    model: Model | None = None
    ties: Ties = field(default="random", kw_only=True)

    def start(self, shape: Shape, rng: np.random.Generator) -> Any:
        """Return counts and sums of zero, or models before any reward."""
        ranking = tie_ranking(self.ties, shape.n_arms, rng)
        if self.model is not None:
            return start_by_model(self.model, self.memory(shape), 0.0, 0.0, ranking, shape, rng)
        return _State(
            np.zeros(shape.n_arms, np.int64),
            np.zeros(shape.n_arms),
            np.full(shape.n_arms, np.inf),
            ranking,
        )
