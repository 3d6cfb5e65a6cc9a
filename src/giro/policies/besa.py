"""BESA: arms compared on equally many rewards (Baransi, Maillard and Mannor, 2014)."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.draws.discrete import hypergeometric
from giro.kernels.draws.uniform import shuffled
from giro.kernels.giro.history import Rewards, no_rewards, remember, rewards_of
from giro.kernels.highest.ties import Ties, beats_in_tie, tie_ranking
from giro.policy import Case, Offer, Policy, Shape

_ROUNDING = 1e-12  # per reward, so that the same rewards added in another order still tie


class _State(NamedTuple):
    rewards: Rewards
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    arms = offer.arms[shuffled(offer.arms.size, rng)]
    level = 0
    while (1 << level) < arms.size:
        level += 1
    for parts in range(level, 0, -1):  # neighbours duel among 2^parts parts of the arms
        for part in range(0, 1 << parts, 2):
            first, middle = (part * arms.size) >> parts, ((part + 1) * arms.size) >> parts
            if first < middle < ((part + 2) * arms.size) >> parts:
                arms[first] = _winner(state, arms[first], arms[middle], rng)
    return int(arms[0])


@kernel
def _winner(state: _State, a: int, b: int, rng: np.random.Generator) -> int:
    """Return the arm with the higher sum of n rewards, where n is the pulls of the less pulled arm.

    The n rewards of the other arm are drawn without replacement. A tie goes to the less pulled arm,
    so an arm that was never pulled beats any that was.
    """
    rewards, pulls = state.rewards, state.rewards.history.length
    if pulls[a] > pulls[b]:
        a, b = b, a
    n = pulls[a]
    if n == pulls[b]:
        total = float(rewards.total[b])
    elif rewards.binary[b]:
        ones = int(rewards.total[b])
        total = float(hypergeometric(ones, pulls[b] - ones, n, rng))
    else:
        total = subsampled_sum(rewards_of(rewards.history, b), n, rng)
    lead = rewards.total[a] - total
    if abs(lead) > _ROUNDING * n:
        return a if lead > 0.0 else b
    if n < pulls[b]:
        return a
    return b if beats_in_tie(b, a, 2, state.ranking, rng) else a


@kernel
def subsampled_sum(rewards: np.ndarray, n: int, rng: np.random.Generator) -> float:
    """Return the sum of n of the rewards, drawn without replacement.

    These are the first n steps of a Fisher-Yates shuffle, done in place and undone, because a
    choice must not change the history of an arm. The cost is n draws, whatever the number of
    rewards.
    """
    positions = np.empty(n, np.int64)
    total = 0.0
    for i in range(n):
        positions[i] = i + int(rng.random() * (rewards.size - i))
        _swap(rewards, i, positions[i])
        total += rewards[i]
    for i in range(n - 1, -1, -1):
        _swap(rewards, i, positions[i])
    return total


@kernel
def _swap(values: np.ndarray, i: int, j: int) -> None:
    values[i], values[j] = values[j], values[i]


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    remember(state.rewards, arm, reward)


@dataclass(frozen=True)
class Besa(Policy, name="besa"):
    """Pulls the winner of a random tournament, in which arms duel on equally many rewards.

    The higher mean wins a duel. The arms are in random order, and the winners of both halves meet
    in the last duel, and so on. The arm with more rewards is represented by a sample of them, drawn
    without replacement. A tie goes to the arm pulled less often. If both were pulled equally often,
    `ties` decides.
    """

    source = "Baransi et al. 2014, Algorithms 1 and 2"
    uses_contexts = False
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)

    ties: Ties = field(default="random", kw_only=True)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return empty histories."""
        rewards = no_rewards(shape.n_arms, shape.capacity)
        return _State(rewards, tie_ranking(self.ties, shape.n_arms, rng))
