"""Poisson bootstrap: replicas that use each observation a Poisson number of times."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from giro.checks import Count
from giro.model import Model
from giro.models.linear import Linear
from giro.policies._replicas import ReplicaPolicy
from giro.policy import Shape


@dataclass(frozen=True)
class PoissonBootstrap(ReplicaPolicy, name="poisson-bootstrap"):
    """Pulls the arm that a random replica prefers, with Poisson(1) weights of the rewards.

    This is `giro-ensemble` without pseudo rewards. One replica is drawn per arm and round. Differs
    from the paper: an arm is pulled once before the bootstrap begins, and models are those of
    `giro.models`.
    """

    source = "Tang et al. 2015, Section 4"

    model: Model = Linear()  # noqa: RUF009  # frozen
    replicas: Count = 20

    def start(self, shape: Shape, rng: np.random.Generator) -> Any:
        """Return empty histories and unfitted replicas."""
        return self.start_replicas(0.0, shape, rng)
