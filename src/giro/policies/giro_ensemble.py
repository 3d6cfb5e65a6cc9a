"""Giro ensemble: contextual Giro with a fixed number of perturbed histories."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from giro.checks import NOT_NEGATIVE, check
from giro.errors import BadParameter
from giro.model import Model
from giro.models.linear import Linear
from giro.policies._replicas import KINDS, ReplicaPolicy, Weights
from giro.policy import Shape


@dataclass(frozen=True)
class GiroEnsemble(ReplicaPolicy, name="giro-ensemble"):
    """Pulls the arm that a random replica prefers, with fixed weights of rewards and of 0s and 1s.

    A replica uses each observed reward Poisson(1) times and, at the same context, a 1 and a 0
    Poisson(a) times each, drawn once when the reward is learned. These are Giro's bootstrap counts,
    except that a sample has no fixed length, and that later rounds use the same counts. That makes
    a round cheap. One replica is drawn per arm and round.

    The defaults were chosen on synthetic problems and Statlog, and are those of giro 0.1.0. In many
    dimensions they explore too much: docs/bakeoff.md shows better ones.

    Differs from the paper: the paper suggests an ensemble to save computation, but gives no
    algorithm. Weights are Poisson, because the length of a growing history cannot be fixed.
    """

    source = "Kveton et al. 2019, Section 8; Oza and Russell 2001"

    a: float = 0.3
    model: Model = Linear()  # noqa: RUF009  # frozen
    replicas: int = 50
    weights: Weights = field(default="poisson", kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        check(self.name, NOT_NEGATIVE, a=self.a)
        if self.weights not in KINDS:
            raise BadParameter(f"{self.name} needs weights {', '.join(KINDS)}, got '{self.weights}'")
        if self.weights != "poisson" and not self.model.takes_weights:
            raise BadParameter(
                f"{self.name} with weights={self.weights} needs a model of weighted rows, as "
                f"linear, logistic, tree or hashed; {self.model} uses rows a whole number of "
                "times: give weights=poisson, or another model"
            )

    def start(self, shape: Shape, rng: np.random.Generator) -> Any:
        """Return empty histories and unfitted replicas."""
        return self.start_replicas(self.a, shape, rng, weights=self.weights)
