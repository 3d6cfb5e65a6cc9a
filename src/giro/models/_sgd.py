"""What linear and logistic models by stochastic gradient share."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import POSITIVE, check
from giro.compiling import kernel
from giro.kernels.regression.linear_algebra import dot
from giro.kernels.regression.logistic import sigmoid
from giro.kernels.regression.stochastic_gradient import Descent, descend, entries_of
from giro.model import Model, Sample
from giro.offer import Context


class State(NamedTuple):
    """Coefficients, and how they are found."""

    theta: np.ndarray  # [slot, feature]
    descent: Descent


@kernel
def _refit(state: State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Descend from the slot's last fit."""
    entries = entries_of(sample.rows, sample.positions, sample.counts)
    descend(state.descent, entries, state.theta[slot], rng)


@kernel
def _value(state: State, slot: int, context: Context) -> float:
    score = dot(state.theta[slot], context)
    return sigmoid(score) if state.descent.logistic else score


@dataclass(frozen=True)
class SgdModel(Model):
    """A linear score, fitted by stochastic gradient descent from the slot's last fit."""

    deterministic = False
    refit = staticmethod(_refit)
    partial_fit = staticmethod(_refit)
    value = staticmethod(_value)
    logistic = False  # whether the score is that of a logistic model

    penalty: float = field(default=1e-4, kw_only=True)
    tolerance: float = field(default=1e-3, kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        check(self.name, POSITIVE, penalty=self.penalty, tolerance=self.tolerance)

    def start(self, slots: int, n_features: int, capacity: int, rng: np.random.Generator) -> State:
        """Return coefficients of zero."""
        descent = Descent(self.logistic, float(self.penalty), float(self.tolerance))
        return State(np.zeros((slots, n_features)), descent)
