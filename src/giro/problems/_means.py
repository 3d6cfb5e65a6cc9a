"""Where the means of context-free arms come from: given, or drawn in each run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from giro.checks import check, whole
from giro.compiling import kernel
from giro.errors import BadParameter
from giro.kernels.draws.uniform import uniforms
from giro.offer import Offer
from giro.problem import Means, Problem


@kernel
def reveal_means(instance: Any, t: int, rng: np.random.Generator) -> tuple[Offer, Means, float]:
    """Return what is the same in every round: all arms, the means, and the highest."""
    return instance.offer, instance.means, instance.best


@dataclass(frozen=True)
class MeansProblem(Problem):
    """Arms whose distribution of rewards is set by its mean.

    `n_arms` means are drawn uniformly from [low, high] in each run (Kveton et al., 2019,
    Section 6.1), or `means` are the same in all runs.
    """

    n_arms: int = 10
    low: float = 0.25
    high: float = 0.75
    means: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        """Check the parameters; given means decide the number of arms."""
        if self.means is not None:
            object.__setattr__(self, "means", tuple(float(mean) for mean in self.means))
            object.__setattr__(self, "n_arms", len(self.means))
            for mean in self.means:
                if not 0.0 <= mean <= 1.0:
                    raise BadParameter(f"{self.name} needs means in [0, 1], got {mean}")
        check(self.name, whole(1), n_arms=self.n_arms)
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
