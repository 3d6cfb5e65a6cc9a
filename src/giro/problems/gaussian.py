"""Gaussian arms: a reward is the arm's mean and normal noise, cut off on both sides alike."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from giro.checks import Positive
from giro.compiling import kernel
from giro.kernels.draws.continuous import standard_normal
from giro.offer import Offer, offer_of
from giro.problem import Law, Means, density_law
from giro.problems.bernoulli import MeansProblem, reveal_means


class _Instance(NamedTuple):
    means: np.ndarray  # [arm]
    best: float
    offer: Offer  # of all arms
    sd: float


@kernel
def _reward(instance: _Instance, means: Means, arm: int, rng: np.random.Generator) -> float:
    mean = float(means[arm])
    reach = min(mean, 1.0 - mean)
    noise = min(max(instance.sd * standard_normal(rng), -reach), reach)
    return min(max(mean + noise, 0.0), 1.0)  # outside [0, 1] only by rounding


@dataclass(frozen=True)
class Gaussian(MeansProblem, name="gaussian"):
    """Rewards mean + noise, where the noise is normal with deviation `sd` and clipped to fit.

    So that rewards lie in [0, 1] and the mean stays what it is, noise of an arm of mean m is
    clipped to ± min(m, 1 - m). With the defaults this happens to at most 1.3 % of rewards.
    """

    source = "normal rewards as in Honda and Takemura 2010, clipped to [0, 1]"
    reveal = staticmethod(reveal_means)
    reward = staticmethod(_reward)

    sd: Positive = 0.1

    def start(self, rng: np.random.Generator) -> _Instance:
        """Return the means of one run."""
        means = self.draw_means(rng)
        return _Instance(means, float(means.max()), offer_of(means.size), float(self.sd))

    def law(self, instance: Any, arm: int) -> Law:
        """Return points of the density between the clips, and the clips."""
        mean = float(instance.means[arm])
        reach = min(mean, 1.0 - mean)
        clipped = 0.5 * math.erfc(reach / self.sd / math.sqrt(2.0))
        width = min(reach, 9.0 * self.sd)
        inside = density_law(
            lambda x: np.exp(-0.5 * ((x - mean) / self.sd) ** 2), mean - width, mean + width
        )
        values = np.append(inside.values, [mean - reach, mean + reach])
        weights = np.append((1.0 - 2.0 * clipped) * inside.weights, [clipped, clipped])
        return Law(values, weights)
