"""Linear: ridge regression, solved exactly (Hoerl and Kennard, 1970)."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from giro.checks import Positive
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
from giro.kernels.regression.sums import empty_sums, put_row, solve_sums
from giro.model import Model, Sample, faded_counts, recent
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
    _fit(sample, state.penalty, state.gram, state.theta[slot])
    state.phase[slot] = _REFITTED


@kernel
def _fit(sample: Sample, penalty: float, gram: np.ndarray, theta: np.ndarray) -> None:
    sample = recent(sample)
    rows, positions = sample.rows, sample.positions
    w, z = weights_and_totals(faded_counts(sample), rows.rewards, positions)
    weighted_gram(rows, positions, w, gram)
    for j in range(gram.shape[0]):
        gram[j, j] += penalty
    weighted_sum(rows, positions, z, theta)
    factorise(gram)
    solve(gram, theta)


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

    In a world that changes, rows fade or leave, and the penalty always counts in full.
    """

    source = "Hoerl and Kennard 1970"
    fitting = "row"
    refits_from_scratch = True
    refit = staticmethod(_refit)
    partial_fit = staticmethod(_partial_fit)
    value = staticmethod(_value)

    penalty: Positive = field(default=1.0, kw_only=True)

    def forgetting(self, *, windowed: bool) -> Model:
        """Return ridge regression of rows that fade, or leave again."""
        return _ForgettingLinear(penalty=self.penalty, windowed=windowed)

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


# -- in a world that changes ---------------------------------------------------------------------


class _ForgettingState(NamedTuple):
    sums: Any  # of the rows learned, see `giro.kernels.regression.sums`
    theta: np.ndarray  # [slot, feature]
    behind: np.ndarray  # [slot] whether θ lags behind the sums
    gram: np.ndarray  # [feature, feature] workspace for one fit
    penalty: float


@kernel
def _refit_sums(
    state: _ForgettingState, slot: int, sample: Sample, rng: np.random.Generator
) -> None:
    _fit(sample, state.penalty, state.gram, state.theta[slot])


@kernel
def _take_in(state: _ForgettingState, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Add the last row to the sums. θ is solved for when it is needed."""
    _put(state, slot, sample, 1.0)


@kernel
def _take_out(state: _ForgettingState, slot: int, sample: Sample) -> None:
    _put(state, slot, sample, -1.0)


@kernel
def _put(state: _ForgettingState, slot: int, sample: Sample, sign: float) -> None:
    last = sample.positions.size - 1
    w, z = weights_and_totals(sample.counts[last:], sample.rows.rewards, sample.positions[last:])
    if w[0] > 0.0:
        row = sample.rows.contexts[sample.positions[last]]
        put_row(state.sums, sample.memory, slot, row, sign * w[0], sign * z[0])
        state.behind[slot] = True


@kernel
def _value_of_sums(state: _ForgettingState, slot: int, context: Context) -> float:
    theta = state.theta[slot]
    if state.behind[slot]:
        solve_sums(state.sums, slot, 1.0, state.penalty, state.gram, theta)
        state.behind[slot] = False
    return dot(theta, context)


@dataclass(frozen=True)
class _ForgettingLinear(Model):
    """Ridge regression of rows that fade, or leave a window."""

    fitting = "row"
    refits_from_scratch = True
    refit = staticmethod(_refit_sums)
    partial_fit = staticmethod(_take_in)
    forget = staticmethod(_take_out)
    value = staticmethod(_value_of_sums)

    penalty: float = field(default=1.0, kw_only=True)
    windowed: bool = field(default=False, kw_only=True)

    def start(
        self, slots: int, n_features: int, capacity: int, rng: np.random.Generator
    ) -> _ForgettingState:
        """Return coefficients of zero."""
        d = n_features
        return _ForgettingState(
            empty_sums(slots, d, windowed=self.windowed),
            np.zeros((slots, d)),
            np.zeros(slots, np.bool_),
            np.empty((d, d)),
            float(self.penalty),
        )
