"""Randomized exploration with your own sampling distribution (Kveton et al., 2019, Alg. 1)."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from giro.compiling import plain
from giro.errors import BadParameter
from giro.kernels.giro.history import History, append, empty_history, rewards_of
from giro.kernels.highest.ties import Ties, argmax, tie_ranking
from giro.policy import Case, Offer, Policy, Shape

Draw: TypeAlias = Callable[[np.ndarray, np.random.Generator], float]


class _State(NamedTuple):
    history: History
    draw: Draw
    ranking: np.ndarray  # order of tied arms


def _value(draw: Draw, history: np.ndarray, rng: np.random.Generator) -> float:
    """Return the drawn value of an arm, infinity for an arm never pulled."""
    if history.size == 0:
        return math.inf
    value = float(draw(history.copy(), rng))
    if math.isnan(value):
        raise BadParameter(f"randomized needs numbers from draw, got {value} for {history}")
    return value


@dataclass(frozen=True)
class Randomized(Policy, name="randomized"):
    """Pulls the arm with the highest value that `draw(history, rng)` returns.

    `draw` gets the rewards of one arm, at least one, and draws from `rng` only. It serves to try
    out a sampling distribution in a few lines of Python, and is not compiled.

    >>> def bootstrap_mean(history, rng):
    ...     return history[(rng.random(history.size) * history.size).astype(int)].mean()
    >>> Randomized(bootstrap_mean).text
    'randomized:draw=bootstrap_mean'
    """

    source = "Kveton et al. 2019, Algorithm 1"
    uses_contexts = False

    draw: Draw
    ties: Ties = field(default="random", kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        if not callable(self.draw):
            raise BadParameter(f"randomized needs a function draw(history, rng), got {self.draw!r}")

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return empty histories."""
        ranking = tie_ranking(self.ties, shape.n_arms, rng)
        return _State(empty_history(shape.n_arms, shape.capacity), self.draw, ranking)

    @staticmethod
    def choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
        """Return the arm with the highest drawn value."""
        rewards = (rewards_of(state.history, int(arm)) for arm in offer.arms)
        values = np.array([_value(state.draw, history, rng) for history in rewards])
        return int(plain(argmax)(values, offer.arms, state.ranking, rng))

    @staticmethod
    def learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
        """Add the reward to the arm's history."""
        append(state.history, arm, reward)
