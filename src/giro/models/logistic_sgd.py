"""Logistic-sgd: logistic regression by stochastic gradient, as the paper fits it (Section 6.2)."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.errors import BadParameter
from giro.kernel import kernel
from giro.kernels.likelihood import sigmoid
from giro.kernels.stochastic_gradient import Descent, descend, entries_of
from giro.kernels.vectors import dot
from giro.model import Model, Sample
from giro.policy import Context


class _State(NamedTuple):
    theta: np.ndarray  # [slot, feature]
    penalty: float
    tolerance: float


@kernel
def _refit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Descend from the slot's last fit."""
    entries = entries_of(sample.rows, sample.positions, sample.counts)
    descend(Descent(True, state.penalty, state.tolerance), entries, state.theta[slot], rng)


@kernel
def _value(state: _State, slot: int, context: Context) -> float:
    return sigmoid(dot(state.theta[slot], context))


@dataclass(frozen=True)
class LogisticSgd(Model, name="logistic-sgd"):
    """Logistic regression by stochastic gradient descent with scikit-learn's default settings.

    As `SGDClassifier(loss="log_loss")`: the rate called `optimal`, at most 1000 passes over the
    sample, until its cross-entropy plus `penalty` times half the squared length of θ falls by less
    than `tolerance`. Begins at the slot's last fit. Rewards may be anything in [0, 1].
    """

    source = "Kveton et al. 2019, Section 6.2"
    settled = False
    refit = staticmethod(_refit)
    absorb = staticmethod(_refit)
    value = staticmethod(_value)

    penalty: float = field(default=1e-4, kw_only=True)
    tolerance: float = field(default=1e-3, kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        for name in ("penalty", "tolerance"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise BadParameter(
                    f"logistic-sgd needs a finite {name} > 0, got {name}={getattr(self, name)}"
                )

    def start(self, slots: int, n_features: int, rounds: int, rng: np.random.Generator) -> _State:
        """Return coefficients of zero."""
        return _State(np.zeros((slots, n_features)), float(self.penalty), float(self.tolerance))
