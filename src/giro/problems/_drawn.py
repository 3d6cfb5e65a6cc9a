"""Problems whose means depend on drawn parameters and drawn contexts, or features of arms."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import Count
from giro.compiling import kernel
from giro.kernels.draws.continuous import standard_normal
from giro.offer import Offer
from giro.problem import Problem


class Drawn(NamedTuple):
    """The draws of a run, and buffers that every round overwrites."""

    theta: np.ndarray  # [model, column] parameters of each arm, or those that all arms share
    arms: np.ndarray  # [arm] all of them
    context: np.ndarray  # [feature] a point of the unit sphere; empty if arms have features
    features: (
        np.ndarray
    )  # [arm, feature] points of the unit sphere; none if the round has a context
    scores: np.ndarray  # [arm]


@kernel
def draw_round(drawn: Drawn, rng: np.random.Generator) -> Offer:
    """Draw the context, or the features of all arms, and set the score (x, 1)'θ of each arm."""
    shared = drawn.features.shape[0] > 0
    if not shared:
        draw_direction(drawn.context, rng)
    for arm in range(drawn.scores.size):
        if shared:
            draw_direction(drawn.features[arm], rng)
        x = drawn.features[arm] if shared else drawn.context
        drawn.scores[arm] = score(drawn.theta[0 if shared else arm], x)
    return Offer(drawn.arms, drawn.context, drawn.features)


@kernel
def draw_direction(direction: np.ndarray, rng: np.random.Generator) -> None:
    """Write a uniform point of the unit sphere: normal numbers divided by their length."""
    square = 0.0
    while square == 0.0:
        for i in range(direction.size):
            direction[i] = standard_normal(rng)
            square += direction[i] * direction[i]
    length = math.sqrt(square)
    for i in range(direction.size):
        direction[i] /= length


@kernel
def score(theta: np.ndarray, x: np.ndarray) -> float:
    """Return (x, 1)'θ, term by term, so that compiled and plain Python give the same bits."""
    total = 0.0
    for i in range(x.size):
        total += theta[i] * x[i]
    return total + float(theta[-1])


@dataclass(frozen=True)
class DrawnProblem(Problem):
    """Arms whose means depend on a drawn context through parameters of their own.

    A context is a point of the unit sphere with `dimension` coordinates, drawn uniformly in each
    round. An arm's parameters, one for each coordinate and a constant, are drawn uniformly from a
    sphere in each run. With `shared`, there is no context. Each arm then has features, drawn in the
    same way in each round, and all arms share the same parameters.
    """

    n_arms: Count = 10
    dimension: Count = 10
    shared: bool = field(default=False, kw_only=True)

    @property
    def n_features(self) -> int:  # type: ignore[override]  # known with the parameters
        """Numbers in a context."""
        return 0 if self.shared else self.dimension

    @property
    def n_arm_features(self) -> int:  # type: ignore[override]  # known with the parameters
        """Features of each arm."""
        return self.dimension if self.shared else 0

    def draw(self, rng: np.random.Generator, *, length: float) -> Drawn:
        """Return the arms of one run, with parameter vectors of this length."""
        theta = np.empty((1 if self.shared else self.n_arms, self.dimension + 1))
        for row in theta:
            draw_direction(row, rng)
        return Drawn(
            length * theta,
            np.arange(self.n_arms),
            np.empty(self.n_features),
            np.empty((self.n_arms if self.shared else 0, self.n_arm_features)),
            np.empty(self.n_arms),
        )
