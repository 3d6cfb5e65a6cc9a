"""Bernoulli arms: a reward is 1 with the arm's mean as probability, and otherwise 0.

Also the base class of all problems that are set by their means, given or drawn in each run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from giro.checks import Count
from giro.compiling import kernel
from giro.errors import BadParameter
from giro.kernels.draws.uniform import uniforms
from giro.offer import Offer, offer_of
from giro.problem import Law, Means, Problem


@kernel
def reveal_means(instance: Any, t: int, rng: np.random.Generator) -> tuple[Offer, Means, float]:
    """Return all arms, the means and the highest mean, the same in every round."""
    return instance.offer, instance.means, instance.best


@dataclass(frozen=True)
class MeansProblem(Problem):
    """Arms whose distribution of rewards is set by their mean.

    `n_arms` means are drawn uniformly from [low, high] in each run (Kveton et al., 2019,
    Section 6.1), or `means` are the same in all runs.
    """

    n_arms: Count = 10
    low: float = 0.25
    high: float = 0.75
    means: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        """Check the parameters. Given means set the number of arms."""
        if self.means is not None:
            object.__setattr__(self, "means", tuple(float(mean) for mean in self.means))
            object.__setattr__(self, "n_arms", len(self.means))
            for mean in self.means:
                if not 0.0 <= mean <= 1.0:
                    raise BadParameter(f"{self.name} needs means in [0, 1], got {mean}")
        super().__post_init__()
        if not 0.0 <= self.low <= self.high <= 1.0:
            raise BadParameter(
                f"{self.name} needs 0 <= low <= high <= 1, got low={self.low}, high={self.high}"
            )

    def shown(self) -> Mapping[str, Any]:
        """Return the parameters that matter: the means, or how they are drawn."""
        shown = dict(super().shown())
        drawn = {key: shown.pop(key) for key in ("n_arms", "low", "high")}
        means = shown.pop("means", None)
        return shown | (drawn if means is None else {"means": means})

    def draw_means(self, rng: np.random.Generator) -> np.ndarray:
        """Return the means of one run, [arm]."""
        if self.means is not None:
            return np.array(self.means)
        return uniforms(self.low, self.high, self.n_arms, rng)


class _Instance(NamedTuple):
    means: np.ndarray  # [arm]
    best: float
    offer: Offer  # of all arms


@kernel
def toss(instance: Any, means: Means, arm: int, rng: np.random.Generator) -> float:
    """Return 1 with the arm's mean as probability, and otherwise 0."""
    return 1.0 if rng.random() < means[arm] else 0.0


@dataclass(frozen=True)
class Bernoulli(MeansProblem, name="bernoulli"):
    """Rewards 0 and 1, with the arm's mean as the probability of 1."""

    source = "Kveton et al. 2019, Section 6.1"
    reveal = staticmethod(reveal_means)
    reward = staticmethod(toss)

    def start(self, rng: np.random.Generator) -> _Instance:
        """Return the means of one run."""
        means = self.draw_means(rng)
        return _Instance(means, float(means.max()), offer_of(means.size))

    def law(self, instance: Any, arm: int) -> Law:
        """Return the probabilities of 0 and 1."""
        mean = float(instance.means[arm])
        return Law(np.array([0.0, 1.0]), np.array([1.0 - mean, mean]))
