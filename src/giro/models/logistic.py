"""Logistic: logistic regression by penalised maximum likelihood (Berkson, 1944)."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import Level, Positive
from giro.compiling import kernel
from giro.kernels.giro.pseudo_rewards import weights_and_totals
from giro.kernels.regression.linear_algebra import dot, widen_factor
from giro.kernels.regression.logistic import Curvature, fit_logistic, sigmoid
from giro.model import Model, Sample, faded_counts, recent
from giro.offer import Context


class _State(NamedTuple):
    theta: np.ndarray  # [slot, feature]
    factor: np.ndarray  # [slot, feature, feature] see `Curvature`
    factor_rows: np.ndarray  # [slot]
    penalty: float
    tolerance: float

    def widened(self, old: "_State") -> None:
        """Fill in new columns, in which all rows so far are 0."""
        for slot in np.flatnonzero(old.factor_rows):
            widen_factor(self.factor[slot], old.theta.shape[1], self.penalty)


@kernel
def _refit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Maximise the likelihood, starting from the slot's last fit."""
    sample = recent(sample)
    rows, positions = sample.rows, sample.positions
    w, z = weights_and_totals(faded_counts(sample), rows.rewards, positions)
    curvature = Curvature(state.factor[slot], state.factor_rows[slot : slot + 1])
    theta = state.theta[slot]
    fit_logistic(rows, positions, w, z, state.penalty, state.tolerance, theta, curvature)


@kernel
def _value(state: _State, slot: int, context: Context) -> float:
    return sigmoid(dot(state.theta[slot], context))


@dataclass(frozen=True)
class Logistic(Model, name="logistic"):
    """Logistic regression: cross-entropy plus `penalty` times half the squared length of θ.

    Rewards may be any numbers in [0, 1]. A fit ends when the Newton decrement is below `tolerance`,
    that is, when scores x'θ are exact to this share of their standard deviation. With 10⁻⁴,
    predictions are off by about 10⁻⁶ at most. The constant that policies add is penalised like
    every other coefficient.
    """

    source = "Berkson 1944"
    refit = staticmethod(_refit)
    partial_fit = staticmethod(_refit)
    value = staticmethod(_value)

    penalty: Positive = field(default=1.0, kw_only=True)
    tolerance: Level = field(default=1e-4, kw_only=True)

    def start(self, slots: int, n_features: int, capacity: int, rng: np.random.Generator) -> _State:
        """Return coefficients of zero."""
        d = n_features
        return _State(
            np.zeros((slots, d)),
            np.empty((slots, d, d)),  # memory that is used only when written
            np.zeros(slots, np.int64),
            float(self.penalty),
            float(self.tolerance),
        )
