"""Giro ensemble: contextual Giro with a fixed number of perturbed histories."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np

from giro.checks import NOT_NEGATIVE, Count, among, optional
from giro.errors import BadParameter
from giro.model import Model
from giro.models.hashed import Hashed
from giro.models.linear import Linear
from giro.policies._replicas import KINDS, ReplicaPolicy, Weights
from giro.policy import Policy, Shape

_A, _A_IN_CONTEXT = 0.3, 0.03  # without contexts, and with them


@dataclass(frozen=True)
class GiroEnsemble(ReplicaPolicy, name="giro-ensemble"):
    """Pulls the arm that a random replica prefers, with fixed weights of rewards and of 0s and 1s.

    A replica uses each observed reward Poisson(1) times and, at the same context, a 1 and a 0
    Poisson(a) times each, drawn once when the reward is learned. These are Giro's bootstrap counts,
    except that a sample has no fixed length, and that later rounds use the same counts. That makes
    a round cheap. One replica is drawn per arm and round.

    Other `weights` than poisson have mean 1, and are `a` times as large for pseudo rewards:
    exponential, gaussian (N(1, 1), 0 where that is negative), or double (0 or 2). With them, the
    policy is MBE of Wan et al. (2023). They need a model of weighted rows: linear, logistic, trees
    or hashed, or an estimator with a sample_weight.

    If no `a` is given, it is 0.03 with contexts, and weights are exponential if the model takes
    them. Without contexts, with the model `hashed`, and with estimators in Python, some of which
    fail if weights are near 0, it is 0.3. Weights are Poisson then, as for any `a` that is given.
    Pseudo rewards are noise in every direction: in many dimensions larger values explore too much
    (docs/bakeoff.md).

    Differs from the paper: the paper suggests an ensemble to save computation, but gives no
    algorithm. Weights are Poisson, because the length of a growing history cannot be fixed.
    """

    source = "Kveton et al. 2019, Section 8; Oza and Russell 2001; Wan et al. 2023"

    a: Annotated[float | None, optional(NOT_NEGATIVE)] = None
    model: Model = Linear()  # noqa: RUF009  # frozen
    replicas: Count = 50
    weights: Annotated[Weights | None, optional(among(KINDS))] = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        if self.weights not in (None, "poisson") and not self.model.takes_weights:
            raise BadParameter(
                f"{self.name} with weights={self.weights} needs a model of weighted rows, as "
                f"linear, logistic, tree or hashed; {self.model} uses rows a whole number of "
                "times: give weights=poisson, or another model"
            )

    def resolved(self, *, contextual: bool) -> Policy:
        """Return the policy with its weights."""
        if self.a is not None:
            return replace(self, weights=self.weights or "poisson")
        in_columns = contextual and self.compiles and not isinstance(self.model, Hashed)
        default: Weights = "exponential" if in_columns and self.model.takes_weights else "poisson"
        return replace(self, a=_A_IN_CONTEXT if in_columns else _A, weights=self.weights or default)

    def start(self, shape: Shape, rng: np.random.Generator) -> Any:
        """Return empty histories and unfitted replicas."""
        if self.a is None or self.weights is None:
            return self.resolved(contextual=shape.contextual).start(shape, rng)
        return self.start_replicas(self.a, shape, rng, weights=self.weights)
