"""Uniform: pull any arm and learn nothing, as a baseline."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.draws.uniform import integer_below
from giro.policy import Case, Offer, Policy, Shape


class _State(NamedTuple):
    nothing: np.ndarray  # empty: there is nothing to remember


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    return int(offer.arms[integer_below(offer.arms.size, rng)])


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    pass


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    return np.full(offer.arms.size, 1.0 / offer.arms.size)


@dataclass(frozen=True)
class Uniform(Policy, name="uniform"):
    """Pulls every arm with the same probability, always."""

    source = "the baseline of no learning"
    uses_contexts = False
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)
    prefers_untried = False
    uses_arm_features = True  # by ignoring them

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return an empty state."""
        return _State(np.empty(0))
