"""Uniform: pull any arm, whatever was learned; the yardstick from below."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from giro.kernel import kernel
from giro.kernels.draws.uniform import integer_below
from giro.policy import Context, Policy


class _State(NamedTuple):
    n_arms: int


@kernel
def _choose(state: _State, context: Context, rng: np.random.Generator) -> int:
    return integer_below(state.n_arms, rng)


@kernel
def _learn(
    state: _State, context: Context, arm: int, reward: float, rng: np.random.Generator
) -> None:
    pass


def _propensities(state: _State, context: Context) -> np.ndarray:
    return np.full(state.n_arms, 1.0 / state.n_arms)


@dataclass(frozen=True)
class Uniform(Policy, name="uniform"):
    """Pulls every arm with the same probability, always."""

    source = "the baseline of no learning"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)
    prefers_untried = False

    def start(self, n_arms: int, n_features: int, rounds: int, rng: np.random.Generator) -> _State:
        """Return the number of arms: there is nothing else to remember."""
        return _State(n_arms)
