"""Linear: ridge regression, solved exactly (Hoerl and Kennard, 1970)."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import POSITIVE, check
from giro.compiling import kernel
from giro.kernels.giro.pseudo_rewards import weights_and_totals
from giro.kernels.regression.linear_algebra import (
    add_multiple,
    add_row,
    assign,
    dot,
    factorise,
    set_penalty,
    solve,
    widen_factor,
)
from giro.kernels.regression.rows import weighted_gram, weighted_sum
from giro.model import Model, Sample
from giro.offer import Context


class _State(NamedTuple):
    theta: np.ndarray  # [slot, feature]
    gram: np.ndarray  # [feature, feature] workspace for one fit
    factor: (
        np.ndarray
    )  # [slot, feature, feature] U with U'U = Σ w x x' + penalty I, see `partial_fit`
    moment: np.ndarray  # [slot, feature] Σ z x of the rows learned
    phase: np.ndarray  # [slot] whether the factor is in use, and whether θ lags behind it
    penalty: float

    def widened(self, old: "_State") -> None:
        """Fill in new columns, in which all rows so far are 0."""
        for slot in np.flatnonzero(old.phase != _REFITTED):
            widen_factor(self.factor[slot], old.theta.shape[1], self.penalty)


_REFITTED, _SOLVED, _BEHIND = 0, 1, 2  # phases of a slot


@kernel
def _refit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Solve (Σ w x x' + penalty I) θ = Σ z x, where z is the sum of a row's rewards."""
    rows, positions = sample.rows, sample.positions
    w, z = weights_and_totals(sample.counts, rows.rewards, positions)
    weighted_gram(rows, positions, w, state.gram)
    for j in range(state.gram.shape[0]):
        state.gram[j, j] += state.penalty
    theta = state.theta[slot]
    weighted_sum(rows, positions, z, theta)
    factorise(state.gram)
    solve(state.gram, theta)
    state.phase[slot] = _REFITTED


@kernel
def _partial_fit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Update the factor with one more row, in O(d²). θ is solved for when it is needed."""
    last = sample.positions.size - 1
    w, z = weights_and_totals(sample.counts[last:], sample.rows.rewards, sample.positions[last:])
    if state.phase[slot] == _REFITTED:
        set_penalty(state.factor[slot], state.penalty)
        state.moment[slot] = 0.0
    if w[0] > 0.0:
        context = sample.rows.contexts[sample.positions[last]]
        add_row(state.factor[slot], context, w[0], state.gram[0])
        add_multiple(state.moment[slot], z[0], context)
    state.phase[slot] = _BEHIND


@kernel
def _value(state: _State, slot: int, context: Context) -> float:
    theta = state.theta[slot]
    if state.phase[slot] == _BEHIND:
        assign(theta, state.moment[slot])
        solve(state.factor[slot], theta)
        state.phase[slot] = _SOLVED
    return dot(theta, context)


@dataclass(frozen=True)
class Linear(Model, name="linear"):
    """Ridge regression: least squares plus `penalty` times the squared length of θ.

    The constant that policies add is penalised like every other coefficient. Fits are exact, so
    the slot's last fit does not matter. A slot is either refitted or learns all its rows one by
    one.
    """

    source = "Hoerl and Kennard 1970"
    fitting = "row"
    refits_from_scratch = True
    refit = staticmethod(_refit)
    partial_fit = staticmethod(_partial_fit)
    value = staticmethod(_value)

    penalty: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        check(self.name, POSITIVE, penalty=self.penalty)

    def start(self, slots: int, n_features: int, capacity: int, rng: np.random.Generator) -> _State:
        """Return coefficients of zero."""
        d = n_features
        return _State(
            np.zeros((slots, d)),
            np.empty((d, d)),
            np.empty((slots, d, d)),  # memory that is used only when written
            np.zeros((slots, d)),
            np.zeros(slots, np.int64),
            float(self.penalty),
        )
