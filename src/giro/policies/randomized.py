"""Randomized exploration with a sampling distribution of your own (Kveton et al., 2019, Alg. 1)."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from giro.errors import BadParameter
from giro.kernel import plain
from giro.kernels.ties import Ties, argmax, tie_ranking
from giro.policy import Context, Policy

Draw: TypeAlias = Callable[[np.ndarray, np.random.Generator], float]


class _State(NamedTuple):
    histories: list[list[float]]  # [arm][i] the arm's i-th reward
    draw: Draw
    ranking: np.ndarray  # order of tied arms


def _value(draw: Draw, history: list[float], rng: np.random.Generator) -> float:
    """Return the drawn value of an arm, infinity for an arm never pulled."""
    if not history:
        return math.inf
    value = float(draw(np.array(history), rng))
    if math.isnan(value):
        raise BadParameter(f"randomized needs numbers from draw, got {value} for {history}")
    return value


@dataclass(frozen=True)
class Randomized(Policy, name="randomized"):
    """Pulls the arm with the highest value that `draw(history, rng)` returns.

    `draw` gets the rewards of one arm, at least one, and draws from `rng` only. It is for trying
    out a sampling distribution in a few lines of Python, and not compiled.

    >>> def bootstrap_mean(history, rng):
    ...     return history[(rng.random(history.size) * history.size).astype(int)].mean()
    >>> Randomized(bootstrap_mean).text
    'randomized:draw=bootstrap_mean'
    """

    source = "Kveton et al. 2019, Algorithm 1"

    draw: Draw
    ties: Ties = field(default="random", kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not callable(self.draw):
            raise BadParameter(f"randomized needs a function draw(history, rng), got {self.draw!r}")

    def start(self, n_arms: int, n_features: int, rounds: int, rng: np.random.Generator) -> _State:
        """Return empty histories."""
        ranking = tie_ranking(self.ties, n_arms, rng)
        return _State([[] for _ in range(n_arms)], self.draw, ranking)

    @staticmethod
    def choose(state: _State, context: Context, rng: np.random.Generator) -> int:
        """Return the arm with the highest drawn value."""
        values = [_value(state.draw, history, rng) for history in state.histories]
        return int(plain(argmax)(np.array(values), state.ranking, rng))

    @staticmethod
    def learn(
        state: _State, context: Context, arm: int, reward: float, rng: np.random.Generator
    ) -> None:
        """Add the reward to the arm's history."""
        state.histories[arm].append(reward)
