"""Thompson sampling: pull the arm with the highest draw from its posterior."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.errors import BadParameter
from giro.kernel import kernel
from giro.kernels.beta_law import beta_law
from giro.kernels.beta_race import highest_beta
from giro.kernels.draws.gamma import beta as beta_draw
from giro.kernels.rounding import bernoulli_rounded
from giro.kernels.ties import argmax
from giro.policy import Case, Offer, Policy, Shape


class _State(NamedTuple):
    alpha: np.ndarray  # [arm] prior plus ones
    beta: np.ndarray  # [arm] prior plus zeros
    is_whole: bool  # whether all of these are whole numbers
    ranking: np.ndarray  # empty: draws tie only by rounding


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    if state.is_whole:
        return highest_beta(state.alpha, state.beta, offer.arms, rng)
    values = np.empty(offer.arms.size)
    for i in range(values.size):
        arm = offer.arms[i]
        values[i] = beta_draw(state.alpha[arm], state.beta[arm], rng)
    return argmax(values, offer.arms, state.ranking, rng)


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    one = bernoulli_rounded(reward, rng)
    state.alpha[arm] += one
    state.beta[arm] += 1.0 - one


def _propensities(state: _State, offer: Offer) -> np.ndarray:
    return beta_law(state.alpha[offer.arms], state.beta[offer.arms])


@dataclass(frozen=True)
class Thompson(Policy, name="thompson"):
    """Pulls the arm with the highest draw from its beta posterior.

    A reward inside (0, 1) is first rounded at random to 0 or 1 with the same mean. Every arm
    starts with a Beta(alpha, beta) prior. With a prior of whole numbers most arms are not drawn, at
    the same law of the pulled arm (see `kernels.beta_race`).
    """

    source = "Agrawal and Goyal 2013, Algorithm 1"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    alpha: float = field(default=1.0, kw_only=True)
    beta: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not (0.0 < self.alpha < np.inf and 0.0 < self.beta < np.inf):
            raise BadParameter(
                f"thompson needs finite alpha, beta > 0, got alpha={self.alpha}, beta={self.beta}"
            )

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return the prior of every arm."""
        alpha, beta = (np.full(shape.n_arms, float(a)) for a in (self.alpha, self.beta))
        is_whole = float(self.alpha).is_integer() and float(self.beta).is_integer()
        return _State(alpha, beta, is_whole, np.empty(0))
