"""Thompson sampling: pull the arm with the highest draw from its posterior."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import POSITIVE, check
from giro.compiling import inline_kernel, kernel
from giro.kernels.draws.gamma import beta as beta_draw
from giro.kernels.draws.uniform import bernoulli_rounded
from giro.kernels.highest.beta_argmax import beta_argmax
from giro.kernels.highest.beta_probabilities import beta_argmax_probabilities
from giro.policy import Case, Offer, Policy, Shape


class _State(NamedTuple):
    alpha: np.ndarray  # [arm] prior plus ones
    beta: np.ndarray  # [arm] prior plus zeros
    is_whole: bool  # whether all of these are whole numbers


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    arms = offer.arms
    if arms.size == state.alpha.size:  # all arms: nothing needs to be copied
        return _highest(state.alpha, state.beta, state.is_whole, rng)
    return int(arms[_highest(state.alpha[arms], state.beta[arms], state.is_whole, rng)])


@inline_kernel
def _highest(alpha: np.ndarray, beta: np.ndarray, is_whole: bool, rng: np.random.Generator) -> int:
    """Return the place of the highest draw."""
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
    state.alpha[arm] += one
    state.beta[arm] += 1.0 - one


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    return beta_argmax_probabilities(state.alpha[offer.arms], state.beta[offer.arms])


@dataclass(frozen=True)
class Thompson(Policy, name="thompson"):
    """Pulls the arm with the highest draw from its beta posterior.

    A reward inside (0, 1) is first rounded at random to 0 or 1 with the same mean. Every arm
    starts with a Beta(alpha, beta) prior. With a prior of whole numbers most arms are not drawn, at
    the same probabilities of the arms (see `beta_argmax`).
    """

    source = "Agrawal and Goyal 2013, Algorithm 1"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    alpha: float = field(default=1.0, kw_only=True)
    beta: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        check(self.name, POSITIVE, alpha=self.alpha, beta=self.beta)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return the prior of every arm."""
        alpha, beta = (np.full(shape.n_arms, float(a)) for a in (self.alpha, self.beta))
        is_whole = float(self.alpha).is_integer() and float(self.beta).is_integer()
        return _State(alpha, beta, is_whole)
