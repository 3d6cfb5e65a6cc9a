"""Thompson sampling: pull the arm with the highest draw from its posterior."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from giro.checks import Positive
from giro.compiling import inline_kernel, kernel
from giro.kernels.draws.continuous import beta as beta_draw
from giro.kernels.draws.uniform import bernoulli_rounded
from giro.kernels.highest.beta_argmax import beta_argmax
from giro.kernels.highest.densities import beta_argmax_probabilities
from giro.kernels.highest.slots import Race, beta_race
from giro.kernels.memory import exchange, fade, memory_of
from giro.offer import of_arms
from giro.policy import Case, Offer, Policy, Shape


class _State(NamedTuple):
    alpha: np.ndarray  # [arm] prior plus ones
    beta: np.ndarray  # [arm] prior plus zeros
    is_whole: bool  # whether all of these are whole numbers
    prior: tuple[float, float]  # alpha and beta without any reward
    memory: Any  # which rewards count, see `kernels/memory.py`


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    arms = offer.arms
    if arms.size == state.alpha.size:  # all arms: nothing needs to be copied
        return _highest(state.alpha, state.beta, state.is_whole, rng)
    return int(arms[_highest(state.alpha[arms], state.beta[arms], state.is_whole, rng)])


@inline_kernel
def _highest(alpha: np.ndarray, beta: np.ndarray, is_whole: bool, rng: np.random.Generator) -> int:
    """Return the index of the highest draw."""
    if is_whole:
        return beta_argmax(alpha, beta, rng)
    best, highest = 0, -1.0
    for i in range(alpha.size):
        value = beta_draw(alpha[i], beta[i], rng)
        if value > highest:
            best, highest = i, value
    return best


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    one = bernoulli_rounded(reward, rng)
    old_arm, old_one = exchange(state.memory, arm, one)
    if old_arm >= 0:
        state.alpha[old_arm] -= old_one
        state.beta[old_arm] -= 1.0 - old_one
    fade(state.memory, state.alpha, state.prior[0])
    fade(state.memory, state.beta, state.prior[1])
    state.alpha[arm] += one
    state.beta[arm] += 1.0 - one


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    alpha, beta = of_arms(state.alpha, offer.arms), of_arms(state.beta, offer.arms)
    return beta_argmax_probabilities(alpha, beta)


@kernel
def _race(state: _State, offer: Offer, slots: int) -> Race:
    alpha, beta = of_arms(state.alpha, offer.arms), of_arms(state.beta, offer.arms)
    return beta_race(alpha, beta, slots)


@dataclass(frozen=True)
class Thompson(Policy, name="thompson"):
    """Pulls the arm with the highest draw from its beta posterior.

    A reward inside (0, 1) is first rounded at random to 0 or 1 with the same mean. Every arm
    starts with a Beta(alpha, beta) prior. With a prior of whole numbers most arms need no draw, and
    the probabilities of the arms are the same (see `beta_argmax`).

    For worlds that change, only the last `window` rewards of all arms count (Trovò et al., 2020),
    or a reward counts half as much after every `half_life` further ones (Raj and Kalyani, 2017).
    The prior always counts in full.
    """

    source = "Agrawal and Goyal 2013, Algorithm 1"
    uses_contexts = False
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)
    race = staticmethod(_race)

    alpha: Positive = field(default=1.0, kw_only=True)
    beta: Positive = field(default=1.0, kw_only=True)
    window: int | None = field(default=None, kw_only=True)
    half_life: float | None = field(default=None, kw_only=True)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return the prior of every arm."""
        alpha, beta = (np.full(shape.n_arms, float(a)) for a in (self.alpha, self.beta))
        prior = float(self.alpha), float(self.beta)
        is_whole = self.half_life is None and all(number.is_integer() for number in prior)
        memory = memory_of(shape, window=self.window, half_life=self.half_life)
        return _State(alpha, beta, is_whole, prior, memory)
