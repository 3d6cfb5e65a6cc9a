"""Bernoulli arms: a reward is 1 with the arm's mean as probability, else 0."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.offer import Offer, offer_of
from giro.problem import Means
from giro.problems._means import MeansProblem, reveal_means


class _Instance(NamedTuple):
    means: np.ndarray  # [arm]
    best: float
    offer: Offer  # of all arms


@kernel
def _reward(instance: _Instance, means: Means, arm: int, rng: np.random.Generator) -> float:
    return 1.0 if rng.random() < means[arm] else 0.0


@dataclass(frozen=True)
class Bernoulli(MeansProblem, name="bernoulli"):
    """Rewards 0 and 1, with the arm's mean as the probability of 1."""

    source = "Kveton et al. 2019, Section 6.1"
    reveal = staticmethod(reveal_means)
    reward = staticmethod(_reward)

    def start(self, rng: np.random.Generator) -> _Instance:
        """Return the means of one run."""
        means = self.draw_means(rng)
        return _Instance(means, float(means.max()), offer_of(means.size))
