"""Linear: an arm's mean is a linear function of the context."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from giro.errors import BadParameter
from giro.kernel import kernel
from giro.kernels.draws.gamma import beta
from giro.policy import Context
from giro.problem import Means
from giro.problems.drawn import DrawnProblem, draw_context, inner_product


class _Instance(NamedTuple):
    theta: np.ndarray  # [arm, feature] of length 1 / sqrt(8)
    context: np.ndarray  # [feature] of length sqrt(2), overwritten in each round
    means: np.ndarray  # [arm] of the present round
    v: float  # of beta rewards; 0 for rewards 0 and 1


@kernel
def _reveal(instance: _Instance, t: int, rng: np.random.Generator) -> tuple[Context, Means, float]:
    draw_context(instance.context, rng)
    highest = 0.0
    for arm in range(instance.means.size):
        mean = 0.5 + inner_product(instance.theta[arm], instance.context)
        instance.means[arm] = min(max(mean, 0.0), 1.0)  # in [0, 1] but for rounding
        highest = max(highest, instance.means[arm])
    return instance.context, instance.means, highest


@kernel
def _reward(instance: _Instance, means: Means, arm: int, rng: np.random.Generator) -> float:
    mean, v = float(means[arm]), instance.v
    if v == 0.0:
        return 1.0 if rng.random() < mean else 0.0
    if mean in (0.0, 1.0):
        return mean
    return beta(v * mean, v * (1.0 - mean), rng)


@dataclass(frozen=True)
class Linear(DrawnProblem, name="linear"):
    """Rewards 0 and 1 with mean 1/2 + x·θ, where x is the context and θ the arm's parameters.

    x is a uniform point of the unit sphere in `dimension` coordinates and a constant 1, drawn anew
    in each round; each arm's θ is a uniform point of the sphere of radius 1/√8, drawn anew in each
    run. As |x| = √2, means lie in [0, 1]. With `v`, rewards are Beta(v m, v (1 - m)) at mean m.
    """

    source = "the model of Abbasi-Yadkori et al. 2011, with parameters per arm"
    reveal = staticmethod(_reveal)
    reward = staticmethod(_reward)

    v: float | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        if self.v is not None and not 0.0 < self.v < np.inf:
            raise BadParameter(f"linear needs a finite v > 0, or none, got v={self.v}")

    def start(self, rng: np.random.Generator) -> _Instance:
        """Return the arms of one run."""
        return _Instance(*self.draw(rng, length=1 / math.sqrt(8)), float(self.v or 0.0))
