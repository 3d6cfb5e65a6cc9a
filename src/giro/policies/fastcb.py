"""FastCB: SquareCB that explores less, the less the best arm is expected to lose."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from giro.checks import NotNegative
from giro.model import Model
from giro.models.online_logistic import OnlineLogistic
from giro.policies._inverse_gaps import InverseGapPolicy
from giro.policy import Shape


@dataclass(frozen=True)
class FastCb(InverseGapPolicy, name="fastcb"):
    """Pulls each of K arms with probability L / (K L + γ gap), and the best with the remainder.

    L is the loss that the best arm is expected to have, 1 minus its prediction, between 0 and 1.
    With L = 1 this is `squarecb`, which has the same gaps, parameters and memory. Its regret is
    small where the best arms hardly ever lose. The `model` should minimise cross-entropy, which the
    guarantee rests on: online-logistic, logistic or a network. Others work, too. The prediction for
    an untried arm is 1, so untried arms come first. Probabilities are exact.

    Differs from the paper: γ = `gamma` t^`exponent` grows with the rounds t, as in the paper's own
    experiments, instead of being fixed in advance. Tied best arms share the remainder.
    """

    source = "Foster and Krishnamurthy 2021, Algorithm 1"

    gamma: NotNegative = 10.0
    model: Model = OnlineLogistic()  # noqa: RUF009  # frozen

    def start(self, shape: Shape, rng: np.random.Generator) -> Any:
        """Return models before any reward."""
        return self.start_models(shape, rng, by_loss=True)
