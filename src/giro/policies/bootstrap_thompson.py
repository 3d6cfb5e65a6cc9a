"""Bootstrap Thompson sampling: a bootstrap of the rewards and of artificial prior ones."""

from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple

import numpy as np

from giro.checks import whole
from giro.compiling import kernel
from giro.kernels.giro.history import Rewards, all_binary, no_rewards, remember
from giro.kernels.giro.lazy_weights import (
    WeightedArms,
    add_reward,
    empty_arms,
    exponential_choice,
    exponential_probabilities,
)
from giro.kernels.giro.reweight import entries_of, multinomial_mean
from giro.kernels.highest.binomial_argmax import (
    BinomialValues,
    binomial_argmax,
    prior_values,
    set_bootstrap,
)
from giro.kernels.highest.binomial_probabilities import binomial_argmax_probabilities
from giro.kernels.highest.ties import Ties, argmax, tie_ranking
from giro.policy import Case, Offer, Policy, Shape


class _State(NamedTuple):
    rewards: Rewards  # if weights are multinomial
    values: BinomialValues  # of those, while all rewards are 0 or 1
    weighted: WeightedArms  # rewards, if weights are exponential
    zeros: int  # prior rewards 0 of every arm
    ones: int  # prior rewards 1 of every arm
    exponential: bool  # weights, otherwise multinomial
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    zeros, ones, ranking = state.zeros, state.ones, state.ranking
    if state.exponential:
        return exponential_choice(state.weighted, offer.arms, zeros, ones, ranking, rng)
    if all_binary(state.rewards):
        return binomial_argmax(state.values, offer.arms, ranking, rng)
    values = np.empty(offer.arms.size)
    for i in range(values.size):
        entries = entries_of(state.rewards, offer.arms[i], zeros, ones)
        values[i] = multinomial_mean(entries, rng)
    return argmax(values, offer.arms, ranking, rng)


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    if state.exponential:
        add_reward(state.weighted, arm, reward)
        return
    remember(state.rewards, arm, reward)
    m = state.rewards.history.length[arm] + state.zeros + state.ones
    set_bootstrap(state.values, arm, m, state.rewards.total[arm] + state.ones)


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    if state.exponential:
        return exponential_probabilities(
            state.weighted, offer.arms, state.zeros, state.ones, state.ranking
        )
    if not all_binary(state.rewards):
        return np.empty(0)
    return binomial_argmax_probabilities(state.values, offer.arms, state.ranking)


@dataclass(frozen=True)
class BootstrapThompson(Policy, name="bootstrap-thompson"):
    """Pulls the arm with the highest mean in a bootstrap of its rewards and of a few prior ones.

    The prior rewards, `zeros` and `ones` of them, are added once and not per pull as in Giro.
    `multinomial` weights are those of drawing with replacement. `exponential` ones are those of the
    Bayesian bootstrap. With them, rewards 0 and 1 give Thompson sampling under a Beta(ones, zeros)
    prior, and others cost little more as they grow in number: see `lazy_weights`.
    """

    source = "Osband and Van Roy 2015"
    uses_contexts = False
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    weights: Literal["multinomial", "exponential"] = "multinomial"
    zeros: Annotated[int, whole(0)] = field(default=1, kw_only=True)
    ones: Annotated[int, whole(0)] = field(default=1, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)

    def has_propensities(self, *, binary: bool, shared: bool) -> bool:
        """Return whether the probabilities are known: only while all rewards are 0 or 1."""
        return binary

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return empty histories and the prior."""
        exponential = self.weights == "exponential"
        return _State(
            no_rewards(shape.n_arms, 0 if exponential else shape.capacity),
            prior_values(shape.n_arms, self.zeros, self.ones),
            empty_arms(shape.n_arms, shape.capacity if exponential else 0),
            self.zeros,
            self.ones,
            exponential,
            tie_ranking(self.ties, shape.n_arms, rng),
        )
