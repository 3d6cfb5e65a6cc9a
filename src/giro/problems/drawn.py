"""Contexts, and parameters of arms, that are drawn: for problems whose means are known."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from giro.errors import BadParameter
from giro.kernel import kernel
from giro.kernels.draws.normal import standard_normal
from giro.policy import Context
from giro.problem import Problem


class Drawn(NamedTuple):
    """What a run draws, and where a round writes to; the next round overwrites it."""

    theta: np.ndarray  # [arm, feature] parameters of the arms
    context: np.ndarray  # [feature] a point of the unit sphere, and a constant 1
    means: np.ndarray  # [arm]


@kernel
def draw_context(context: Context, rng: np.random.Generator) -> None:
    """Write a context: a point of the unit sphere, drawn uniformly, and last a constant 1."""
    draw_direction(context[:-1], rng)
    context[-1] = 1.0


@kernel
def draw_direction(direction: np.ndarray, rng: np.random.Generator) -> None:
    """Write a uniform point of the unit sphere: normal numbers, divided by their length."""
    square = 0.0
    while square == 0.0:
        for i in range(direction.size):
            direction[i] = standard_normal(rng)
            square += direction[i] * direction[i]
    length = math.sqrt(square)
    for i in range(direction.size):
        direction[i] /= length


@kernel
def inner_product(theta: np.ndarray, context: Context) -> float:
    """Return the sum of products, term by term: compiled and plain Python give the same bits."""
    total = 0.0
    for i in range(context.size):
        total += theta[i] * context[i]
    return total


@dataclass(frozen=True)
class DrawnProblem(Problem):
    """Arms whose mean depends on a drawn context through parameters of their own.

    A context is a point of the unit sphere with `dimension` coordinates, drawn uniformly in each
    round, and a constant 1. An arm's parameters are drawn uniformly from a sphere in each run.
    """

    n_arms: int = 10
    dimension: int = 10

    def __post_init__(self) -> None:
        """Check the parameters."""
        for key, what in (("n_arms", "arm"), ("dimension", "dimension")):
            value = getattr(self, key)
            if not isinstance(value, int) or value < 1:
                raise BadParameter(f"{self.name} needs at least one {what}, got {key}={value}")

    @property
    def n_features(self) -> int:  # type: ignore[override]  # known with the dimension
        """Numbers in a context: its dimension and the constant."""
        return self.dimension + 1

    def draw(self, rng: np.random.Generator, *, length: float) -> Drawn:
        """Return the arms of one run, whose parameters are vectors of this length."""
        theta = np.empty((self.n_arms, self.n_features))
        for row in theta:
            draw_direction(row, rng)
        return Drawn(length * theta, np.empty(self.n_features), np.empty(self.n_arms))
