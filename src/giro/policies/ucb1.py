"""UCB1: pull the arm with the highest upper confidence bound (Auer et al., 2002, Figure 1)."""

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from giro.compiling import inline_kernel, kernel
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import Ties, argmax, tie_ranking
from giro.kernels.memory import exchange, fade, memory_of
from giro.offer import of_arms
from giro.policy import Case, Offer, Policy, Shape


class _State(NamedTuple):
    pulls: np.ndarray  # [arm] rewards that count; with a half-life the sum of their weights
    total: np.ndarray  # [arm] sum of rewards
    memory: Any  # which rewards count, see `kernels/memory.py`
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    return argmax(_bounds(state, offer.arms), offer.arms, state.ranking, rng)


@inline_kernel
def _bounds(state: _State, arms: np.ndarray) -> np.ndarray:
    """Return the upper confidence bound of each of these arms, infinity for one never pulled."""
    if arms.size == state.pulls.size:  # all arms: nothing needs to be copied
        return _bounds_of(state.pulls, state.total)
    return _bounds_of(state.pulls[arms], state.total[arms])


@inline_kernel
def _bounds_of(pulls: np.ndarray, total: np.ndarray) -> np.ndarray:
    bounds = np.full(pulls.size, np.inf)
    n = pulls[0]
    for i in range(1, pulls.size):
        n += pulls[i]
    log_n = math.log(n) if n > 1 else 0.0  # old weights may sum to less than 1
    for i in range(bounds.size):
        n_j = pulls[i]
        if n_j > 0:
            bounds[i] = total[i] / n_j + math.sqrt(2 * log_n / n_j)
    return bounds


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    old_arm, old_reward = exchange(state.memory, arm, reward)
    if old_arm >= 0:
        state.pulls[old_arm] -= 1
        state.total[old_arm] = (
            state.total[old_arm] - old_reward if state.pulls[old_arm] > 0 else 0.0
        )
    fade(state.memory, state.pulls, 0.0)
    fade(state.memory, state.total, 0.0)
    state.pulls[arm] += 1
    state.total[arm] += reward


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    return argmax_probabilities(_bounds(state, offer.arms), of_arms(state.ranking, offer.arms))


@dataclass(frozen=True)
class Ucb1(Policy, name="ucb1"):
    """Pulls the arm with the highest mean plus sqrt(2 log n / pulls), with n the pulls of all arms.

    n counts the pulls of the arms on offer. For worlds that change, only the last `window` rewards
    of all arms count (SW-UCB with ξ = 2), or a reward counts half as much after every `half_life`
    further ones (D-UCB with ξ = 1/2), in means and pulls alike (Garivier and Moulines, 2011). An
    arm whose rewards have all left the window is pulled again.
    """

    source = "Auer et al. 2002, Figure 1"
    uses_contexts = False
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    ties: Ties = field(default="random", kw_only=True)
    window: int | None = field(default=None, kw_only=True)
    half_life: float | None = field(default=None, kw_only=True)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return counts and sums of zero."""
        return _State(
            np.zeros(shape.n_arms, np.int64 if self.half_life is None else np.float64),
            np.zeros(shape.n_arms),
            memory_of(shape, window=self.window, half_life=self.half_life),
            tie_ranking(self.ties, shape.n_arms, rng),
        )
