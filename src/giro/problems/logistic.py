"""Logistic: the log odds of an arm's reward are a linear function of the context."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from giro.checks import Needed
from giro.compiling import kernel
from giro.kernels.network import clipped_sigmoid
from giro.offer import Offer
from giro.problem import Means
from giro.problems._drawn import Drawn, DrawnProblem, draw_round
from giro.problems.bernoulli import toss

_NO_OVERFLOW = Needed("0 <= {} <= 500", lambda value: 0.0 <= value <= 500.0)  # of exp(-x·θ)


class _Instance(NamedTuple):
    drawn: Drawn
    means: np.ndarray  # [arm] of the present round


@kernel
def _reveal(instance: _Instance, t: int, rng: np.random.Generator) -> tuple[Offer, Means, float]:
    offer, highest = draw_round(instance.drawn, rng), 0.0
    for arm in range(instance.means.size):
        instance.means[arm] = clipped_sigmoid(instance.drawn.scores[arm])
        highest = max(highest, instance.means[arm])
    return offer, instance.means, highest


@dataclass(frozen=True)
class Logistic(DrawnProblem, name="logistic"):
    """Rewards 0 and 1 with mean 1 / (1 + exp(-(x, 1)·θ)), x the context, θ the arm's parameters.

    x is a uniform point of the unit sphere in `dimension` coordinates, drawn in each round. Each
    arm's θ is a uniform point of the sphere of radius `strength`, drawn in each run. With `shared`,
    x are the features of the arm, drawn for each arm in each round, and θ is the same for all arms.
    """

    source = "Kveton et al. 2019, Section 2, Equation (2)"
    reveal = staticmethod(_reveal)
    reward = staticmethod(toss)

    strength: Annotated[float, _NO_OVERFLOW] = 5.0

    def start(self, rng: np.random.Generator) -> _Instance:
        """Return the arms of one run."""
        return _Instance(self.draw(rng, length=float(self.strength)), np.empty(self.n_arms))
