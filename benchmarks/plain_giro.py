"""Giro written plainly, in two ways, as policies to measure the engine against."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.giro.history import History, append, empty_history, rewards_of
from giro.kernels.giro.pseudo_rewards import pseudo_count
from giro.kernels.highest.ties import argmax
from giro.policy import Case, Offer, Policy, Shape

RANDOM_TIES = np.empty(0)  # ties are broken at random, each time


class _Literal(NamedTuple):
    history: History  # observed rewards
    a: float
    ranking: np.ndarray


@kernel
def _choose_literally(state: _Literal, offer: Offer, rng: np.random.Generator) -> int:
    """Algorithm 2: one draw for each entry of each history, pseudo rewards among them."""
    values = np.full(offer.arms.size, np.inf)
    for i in range(values.size):
        rewards = rewards_of(state.history, offer.arms[i])
        if rewards.size > 0:
            k = pseudo_count(state.a, rewards.size, rng)
            m, total = rewards.size + 2 * k, 0.0
            for _ in range(m):
                entry = rng.integers(0, m)
                if entry < rewards.size:
                    total += rewards[entry]
                elif entry < rewards.size + k:
                    total += 1.0
            values[i] = total / m
    return argmax(values, offer.arms, state.ranking, rng)


@kernel
def _learn(state: _Literal, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    append(state.history, arm, reward)


@dataclass(frozen=True)
class LiteralGiro(Policy, name="literal-giro"):
    """Algorithm 2 entry by entry."""

    choose = staticmethod(_choose_literally)
    learn = staticmethod(_learn)

    a: float = 1.0

    def start(self, shape: Shape, rng: np.random.Generator) -> _Literal:
        """Return empty histories."""
        return _Literal(empty_history(shape.n_arms, shape.capacity), float(self.a), RANDOM_TIES)


class _Counts(NamedTuple):
    pulls: np.ndarray  # [arm]
    ones: np.ndarray  # [arm]
    a: float
    ranking: np.ndarray


@kernel
def _choose_by_binomials(state: _Counts, offer: Offer, rng: np.random.Generator) -> int:
    """One binomial for each arm: right for rewards 0 and 1 only."""
    values = np.full(offer.arms.size, np.inf)
    for i in range(values.size):
        arm = offer.arms[i]
        s = state.pulls[arm]
        if s > 0:
            k = pseudo_count(state.a, s, rng)
            m = s + 2 * k
            values[i] = rng.binomial(m, (state.ones[arm] + k) / m) / m
    return argmax(values, offer.arms, state.ranking, rng)


@kernel
def _count(state: _Counts, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    state.pulls[arm] += 1
    state.ones[arm] += reward


@dataclass(frozen=True)
class BinomialGiro(Policy, name="binomial-giro"):
    """Bernoulli Giro with a binomial draw for each arm."""

    choose = staticmethod(_choose_by_binomials)
    learn = staticmethod(_count)

    a: float = 1.0

    def start(self, shape: Shape, rng: np.random.Generator) -> _Counts:
        """Return counts of zero."""
        pulls, ones = np.zeros(shape.n_arms, np.int64), np.zeros(shape.n_arms)
        return _Counts(pulls, ones, float(self.a), RANDOM_TIES)
