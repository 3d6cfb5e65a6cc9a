"""Bootstrap: Giro without pseudo rewards, which can fail forever (Kveton et al., 2019, Lemma 1)."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import Count
from giro.compiling import kernel
from giro.kernels.giro.history import Rewards, all_binary, no_rewards, remember
from giro.kernels.giro.reweight import entries_of, multinomial_mean
from giro.kernels.highest.binomial_argmax import (
    BinomialValues,
    binomial_argmax,
    empty_values,
    set_bootstrap,
)
from giro.kernels.highest.binomial_probabilities import binomial_argmax_probabilities
from giro.kernels.highest.ties import Ties, argmax, tie_ranking
from giro.policy import Case, Offer, Policy, Shape


class _State(NamedTuple):
    rewards: Rewards
    values: BinomialValues  # distributions of the arms' values while all rewards are 0 or 1
    pulls: int  # of each arm before the bootstrap begins
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    for arm in offer.arms:
        if state.rewards.history.length[arm] < state.pulls:
            return int(arm)
    if all_binary(state.rewards):
        return binomial_argmax(state.values, offer.arms, state.ranking, rng)
    values = np.empty(offer.arms.size)
    for i in range(values.size):
        values[i] = multinomial_mean(entries_of(state.rewards, offer.arms[i], 0, 0), rng)
    return argmax(values, offer.arms, state.ranking, rng)


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    remember(state.rewards, arm, reward)
    set_bootstrap(state.values, arm, state.rewards.history.length[arm], state.rewards.total[arm])


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    for i in range(offer.arms.size):
        if state.rewards.history.length[offer.arms[i]] < state.pulls:
            certain = np.zeros(offer.arms.size)
            certain[i] = 1.0
            return certain
    if not all_binary(state.rewards):
        return np.empty(0)
    return binomial_argmax_probabilities(state.values, offer.arms, state.ranking)


@dataclass(frozen=True)
class Bootstrap(Policy, name="bootstrap"):
    """Pulls the arm with the highest mean in a bootstrap sample of its rewards.

    Each arm is first pulled `pulls` times, in the order of the arms. Ties follow a fixed rule drawn
    in advance, as the lower bound of the paper's Lemma 1 assumes.
    """

    source = "Kveton et al. 2019, Section 3.1"
    uses_contexts = False
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    pulls: Count = 1
    ties: Ties = field(default="fixed", kw_only=True)

    def has_propensities(self, *, binary: bool, shared: bool) -> bool:
        """Return whether the probabilities are known: only while all rewards are 0 or 1."""
        return binary

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return empty histories."""
        ranking = tie_ranking(self.ties, shape.n_arms, rng)
        rewards = no_rewards(shape.n_arms, shape.capacity)
        return _State(rewards, empty_values(shape.n_arms), self.pulls, ranking)
