"""Linear: an arm's mean is a linear function of the context."""

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from giro.checks import POSITIVE, optional
from giro.compiling import kernel
from giro.kernels.draws.continuous import beta
from giro.offer import Offer
from giro.problem import Means
from giro.problems._drawn import Drawn, DrawnProblem, draw_round


class _Instance(NamedTuple):
    drawn: Drawn  # parameters have length 1 / sqrt(8), rows (x, 1) have length sqrt(2)
    means: np.ndarray  # [arm] of the present round
    v: float  # of beta rewards; 0 for rewards 0 and 1


@kernel
def _reveal(instance: _Instance, t: int, rng: np.random.Generator) -> tuple[Offer, Means, float]:
    offer, highest = draw_round(instance.drawn, rng), 0.0
    for arm in range(instance.means.size):
        mean = 0.5 + instance.drawn.scores[arm]
        instance.means[arm] = min(max(mean, 0.0), 1.0)  # outside [0, 1] only by rounding
        highest = max(highest, instance.means[arm])
    return offer, instance.means, highest


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
    """Rewards 0 and 1 with mean 1/2 + (x, 1)·θ, where x is the context and θ the arm's parameters.

    x is a uniform point of the unit sphere in `dimension` coordinates, drawn in each round. Each
    arm's θ is a uniform point of the sphere of radius 1/√8, drawn in each run. As |(x, 1)| = √2,
    means lie in [0, 1]. With `shared`, x are the features of the arm, drawn for each arm in each
    round, and θ is the same for all arms. With `v`, rewards of mean m are Beta(v m, v (1 - m)).
    """

    source = "the model of Abbasi-Yadkori et al. 2011, with parameters per arm unless shared"
    reveal = staticmethod(_reveal)
    reward = staticmethod(_reward)

    v: Annotated[float | None, optional(POSITIVE)] = None

    def start(self, rng: np.random.Generator) -> _Instance:
        """Return the arms of one run."""
        drawn = self.draw(rng, length=1 / math.sqrt(8))
        return _Instance(drawn, np.empty(self.n_arms), float(self.v or 0.0))
