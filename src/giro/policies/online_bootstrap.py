"""Online bootstrap: replicas of every arm that each see half of the rewards."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import Count, Positive
from giro.compiling import kernel
from giro.kernels.draws.uniform import COINS, coins
from giro.kernels.highest.probabilities import replica_probabilities
from giro.kernels.highest.ties import Ties, argmax, tie_ranking
from giro.offer import of_arms
from giro.policy import Case, Offer, Policy, Shape


class _State(NamedTuple):
    total: np.ndarray  # [arm, replica] alpha plus sum of the rewards seen
    size: np.ndarray  # [arm, replica] alpha plus beta plus number of rewards seen
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    replicas, values = state.total.shape[1], np.empty(offer.arms.size)
    for i in range(values.size):
        arm, replica = offer.arms[i], int(rng.random() * replicas)
        values[i] = state.total[arm, replica] / state.size[arm, replica]
    return argmax(values, offer.arms, state.ranking, rng)


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    tossed = 0
    for replica in range(state.total.shape[1]):
        if replica % COINS == 0:
            tossed = coins(rng)
        head = tossed & 1
        tossed >>= 1
        state.total[arm, replica] += head * reward
        state.size[arm, replica] += head


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    values = state.total[offer.arms] / state.size[offer.arms]
    return replica_probabilities(values, of_arms(state.ranking, offer.arms))


@dataclass(frozen=True)
class OnlineBootstrap(Policy, name="online-bootstrap"):
    """Pulls the arm with the highest mean in one of its replicas, drawn for each arm.

    A reward enters each replica of the pulled arm with probability 1/2. This is the
    double-or-nothing bootstrap, except that we count a kept reward once, which only rescales the
    prior. Replicas start with `alpha` ones and `beta` zeros, so each always has a mean.
    """

    source = "Eckles and Kaptein 2014"
    uses_contexts = False
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    replicas: Count = 1000
    alpha: Positive = field(default=1.0, kw_only=True)
    beta: Positive = field(default=1.0, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return replicas that have seen only the prior."""
        total = np.full((shape.n_arms, self.replicas), float(self.alpha))
        size = np.full(total.shape, float(self.alpha + self.beta))
        return _State(total, size, tie_ranking(self.ties, shape.n_arms, rng))
