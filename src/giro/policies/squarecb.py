"""SquareCB: pull an arm more rarely the further it is expected to fall behind the best."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from giro.checks import NotNegative
from giro.model import Model
from giro.models.hashed import Hashed
from giro.policies._inverse_gaps import InverseGapPolicy
from giro.policy import Shape


@dataclass(frozen=True)
class SquareCb(InverseGapPolicy, name="squarecb"):
    """Pulls each of K arms with probability 1 / (K + γ gap), and the best with the remainder.

    This is inverse gap weighting. The gap is the difference between the predictions for the best
    arm and for this one, and γ = `gamma` t^`exponent` in round t. `model` is any of `giro.models`,
    or from Python a scikit-learn estimator. The prediction for an untried arm is 1. Probabilities
    are exact. Differs from the paper: γ grows with the rounds instead of being fixed in advance,
    and tied best arms share the remainder.

    For worlds that change, only the last `window` rewards of all arms count, or a reward counts
    half as much after every `half_life` further ones (docs/howto/drift.md says how for each model).
    t then counts the rewards that still count, so that exploring never ends.
    """

    source = "Foster and Rakhlin 2020, Algorithm 1; Abe and Long 1999"

    gamma: NotNegative = 10.0
    model: Model = Hashed()  # noqa: RUF009  # frozen

    def start(self, shape: Shape, rng: np.random.Generator) -> Any:
        """Return models before any reward."""
        return self.start_models(shape, rng, by_loss=False)
