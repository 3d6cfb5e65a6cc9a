"""Beta arms: rewards in (0, 1) around the arm's mean, closer to it for a larger v."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from giro.checks import Positive
from giro.compiling import kernel
from giro.kernels.draws.continuous import beta
from giro.offer import Offer, offer_of
from giro.problem import Law, Means
from giro.problems.bernoulli import MeansProblem, reveal_means

_POINTS = 64  # of a density


class _Instance(NamedTuple):
    means: np.ndarray  # [arm]
    best: float
    offer: Offer  # of all arms
    v: float


@kernel
def _reward(instance: _Instance, means: Means, arm: int, rng: np.random.Generator) -> float:
    mean, v = float(means[arm]), instance.v
    if mean in (0.0, 1.0):
        return mean
    return beta(v * mean, v * (1.0 - mean), rng)


@dataclass(frozen=True)
class Beta(MeansProblem, name="beta"):
    """Rewards from Beta(v m, v (1 - m)) for an arm of mean m. Means 0 and 1 are constant."""

    source = "Kveton et al. 2019, Section 6.1"
    reveal = staticmethod(reveal_means)
    reward = staticmethod(_reward)

    v: Positive = 4.0

    def start(self, rng: np.random.Generator) -> _Instance:
        """Return the means of one run."""
        means = self.draw_means(rng)
        return _Instance(means, float(means.max()), offer_of(means.size), float(self.v))

    def law(self, instance: Any, arm: int) -> Law:
        """Return points of the beta density (Gauss and Jacobi)."""
        from scipy.special import roots_jacobi  # noqa: PLC0415  # quick start

        mean = float(instance.means[arm])
        if mean in (0.0, 1.0):
            return Law(np.array([mean]), np.ones(1))
        nodes, weights = roots_jacobi(_POINTS, self.v * (1.0 - mean) - 1.0, self.v * mean - 1.0)
        return Law((nodes + 1.0) / 2.0, weights / weights.sum())
