"""PHE: perturbed-history exploration (Kveton et al., 2019b, Algorithm 1)."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import Positive
from giro.compiling import kernel
from giro.kernels.giro.pseudo_rewards import pseudo_count_distribution
from giro.kernels.highest.binomial_argmax import (
    BinomialValues,
    binomial_argmax,
    empty_values,
    set_share,
    set_variant,
)
from giro.kernels.highest.binomial_probabilities import binomial_argmax_probabilities
from giro.kernels.highest.ties import Ties, tie_ranking
from giro.policy import Case, Offer, Policy, Shape


class _State(NamedTuple):
    pulls: np.ndarray  # [arm]
    total: np.ndarray  # [arm] sum of rewards
    values: BinomialValues  # distributions of the arms' values
    a: float  # pseudo rewards per pull
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    return binomial_argmax(state.values, offer.arms, state.ranking, rng)


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    state.pulls[arm] += 1
    state.total[arm] += reward
    below, share = pseudo_count_distribution(state.a, state.pulls[arm])
    n = below + 1 if share > 0.0 else below  # ceil(a s), up to rounding
    set_variant(state.values, arm, 0, state.total[arm], n, 0.5, state.pulls[arm] + n)
    set_share(state.values, arm, 0.0)


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    return binomial_argmax_probabilities(state.values, offer.arms, state.ranking)


@dataclass(frozen=True)
class Phe(Policy, name="phe"):
    """Pulls the arm with the highest mean of its rewards and of `a` fresh coin flips per pull."""

    source = "Kveton et al. 2019 (IJCAI), Algorithm 1"
    uses_contexts = False
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    a: Positive = 1.1
    ties: Ties = field(default="random", kw_only=True)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return counts and sums of zero."""
        return _State(
            np.zeros(shape.n_arms, np.int64),
            np.zeros(shape.n_arms),
            empty_values(shape.n_arms),
            float(self.a),
            tie_ranking(self.ties, shape.n_arms, rng),
        )
