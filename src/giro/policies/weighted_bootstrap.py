"""Weighted bootstrap: rewards are reweighted at random (Vaswani et al., 2018)."""

from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple

import numpy as np

from giro.checks import Positive, whole
from giro.compiling import kernel
from giro.kernels.giro.history import Rewards, no_rewards, remember
from giro.kernels.giro.lazy_weights import (
    WeightedArms,
    add_reward,
    empty_arms,
    exponential_choice,
    exponential_probabilities,
)
from giro.kernels.giro.reweight import entries_of, gaussian_mean, shifted_mean
from giro.kernels.highest.ties import Ties, argmax, tie_ranking
from giro.policy import Case, Offer, Policy, Shape

_KINDS = ("exponential", "gaussian", "additive")


class _State(NamedTuple):
    weighted: WeightedArms  # rewards, if weights are exponential
    rewards: Rewards  # otherwise
    zeros: int  # pseudo rewards 0 of every arm
    ones: int  # pseudo rewards 1 of every arm
    squares: np.ndarray  # [arm] sum of squared rewards
    kind: int  # of the weights, an index of _KINDS
    sd: float  # of additive weights
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    zeros, ones, ranking = state.zeros, state.ones, state.ranking
    if state.kind == 0:
        return exponential_choice(state.weighted, offer.arms, zeros, ones, ranking, rng)
    values = np.empty(offer.arms.size)
    for i in range(values.size):
        entries = entries_of(state.rewards, offer.arms[i], zeros, ones)
        if state.kind == 1:
            values[i] = gaussian_mean(entries, state.squares[offer.arms[i]], rng)
        else:
            values[i] = shifted_mean(entries, state.sd, rng)
    return argmax(values, offer.arms, ranking, rng)


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    if state.kind == 0:
        add_reward(state.weighted, arm, reward)
    else:
        remember(state.rewards, arm, reward)
        state.squares[arm] += reward * reward


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    if state.kind > 0:
        return np.empty(0)
    return exponential_probabilities(
        state.weighted, offer.arms, state.zeros, state.ones, state.ranking
    )


@dataclass(frozen=True)
class WeightedBootstrap(Policy, name="weighted-bootstrap"):
    """Pulls the arm whose rewards, reweighted at random, have the highest mean.

    Each arm starts with `zeros` and `ones` pseudo rewards, which are weighted like all others. The
    value is sum w_i y_i / sum w_i with `exponential` weights w_i ~ Exp(1) or `gaussian` ones,
    w_i ~ N(1, 1). Exponential weights and rewards 0 and 1 give Thompson sampling with a
    Beta(ones, zeros) prior. `additive` adds N(0, sd^2) to each reward instead, which gives Thompson
    sampling for Gaussian rewards.

    Differs from the paper: Gaussian weights whose sum is not positive define no mean and are drawn
    again. `sd` is by default the largest that a reward in [0, 1] can have, 1/2. Pseudo rewards are
    kept with all kinds of weights.
    """

    source = "Vaswani et al. 2018"
    uses_contexts = False
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    weights: Literal["exponential", "gaussian", "additive"] = "exponential"
    zeros: Annotated[int, whole(0)] = field(default=1, kw_only=True)
    ones: Annotated[int, whole(0)] = field(default=1, kw_only=True)
    sd: Positive = field(default=0.5, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)

    def has_propensities(self, *, binary: bool, shared: bool) -> bool:
        """Return whether probabilities are known: if exponential, while rewards are 0 or 1."""
        return binary and self.weights == "exponential"

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return empty histories and the pseudo rewards."""
        exponential = self.weights == "exponential"
        return _State(
            empty_arms(shape.n_arms, shape.capacity if exponential else 0),
            no_rewards(shape.n_arms, 0 if exponential else shape.capacity),
            self.zeros,
            self.ones,
            np.zeros(shape.n_arms),
            _KINDS.index(self.weights),
            float(self.sd),
            tie_ranking(self.ties, shape.n_arms, rng),
        )
