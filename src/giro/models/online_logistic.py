"""Online logistic: logistic regression by one Newton step per reward (Hazan et al., 2007)."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import Positive
from giro.compiling import kernel
from giro.kernels.giro.pseudo_rewards import weights_and_totals
from giro.kernels.memory import left_since, now
from giro.kernels.regression.linear_algebra import (
    add_multiple,
    add_row,
    assign,
    dot,
    fade_factor,
    set_penalty,
    solve,
)
from giro.kernels.regression.logistic import sigmoid
from giro.model import Model, Sample, faded_counts, recent
from giro.offer import Context


class _State(NamedTuple):
    theta: np.ndarray  # [slot, feature]
    factor: np.ndarray  # [slot, feature, feature] U with U'U = penalty I + Σ w p(1-p) x x'
    step: np.ndarray  # [feature] workspace for a step
    workspace: np.ndarray  # [feature]
    since: np.ndarray  # [slot] the time of the last row, where rows fade
    penalty: float


@kernel
def _partial_fit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Learn the last row, in O(d²), or in O(d³) where rows fade."""
    left = left_since(sample.memory, state.since[slot])
    state.since[slot] = now(sample.memory)
    if left < 1.0:
        _fade(state, slot, left)
    _take_in(state, slot, sample, sample.counts, sample.positions.size - 1)


@kernel
def _fade(state: _State, slot: int, left: float) -> None:
    """Multiply the loss of all rows so far by `left`, but not the penalty.

    The curvature A becomes left A + (1 - left) penalty I. The slope at θ, where it was 0, becomes
    (1 - left) penalty θ, which Newton's step takes away.
    """
    theta, lost = state.theta[slot], (1.0 - left) * state.penalty
    fade_factor(state.factor[slot], left, state.penalty, state.workspace)
    assign(state.step, theta)
    solve(state.factor[slot], state.step)
    add_multiple(theta, -lost, state.step)


@kernel
def _refit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Start again and learn one row after the other."""
    sample = recent(sample)
    counts = faded_counts(sample)
    set_penalty(state.factor[slot], state.penalty)
    state.theta[slot] = 0.0
    for i in range(sample.positions.size):
        _take_in(state, slot, sample, counts, i)


@kernel
def _take_in(state: _State, slot: int, sample: Sample, counts: np.ndarray, i: int) -> None:
    """Add the row's curvature at the present θ, and take the Newton step of its loss."""
    position = sample.positions[i : i + 1]
    w, z = weights_and_totals(counts[i : i + 1], sample.rows.rewards, position)
    if w[0] == 0.0:
        return
    x, theta = sample.rows.contexts[position[0]], state.theta[slot]
    p = sigmoid(dot(theta, x))
    add_row(state.factor[slot], x, w[0] * p * (1.0 - p), state.workspace)
    assign(state.step, x)
    solve(state.factor[slot], state.step)
    add_multiple(theta, z[0] - w[0] * p, state.step)


@kernel
def _value(state: _State, slot: int, context: Context) -> float:
    return sigmoid(dot(state.theta[slot], context))


@dataclass(frozen=True)
class OnlineLogistic(Model, name="online-logistic"):
    """Logistic regression that learns each row once, by a Newton step of its cross-entropy.

    θ += A⁻¹x (r - p), where A = `penalty` I + Σ p(1-p) x x' over the rows so far, each with the
    probability p that was predicted before it was learned. A row costs O(d²), and no row is kept.
    Differs from the paper: the curvature is that of the loss itself, and θ is not projected. With a
    half-life, the curvature fades before each row, but its penalty does not.
    """

    source = "Hazan, Agarwal and Kale 2007, Figure 2"
    fitting = "row"
    refits_from_scratch = True
    refit = staticmethod(_refit)
    partial_fit = staticmethod(_partial_fit)
    value = staticmethod(_value)

    penalty: Positive = field(default=1.0, kw_only=True)

    def forgetting(self, *, windowed: bool) -> Model:
        """Return the model itself, which has no window."""
        return self.without_window(windowed=windowed)

    def start(self, slots: int, n_features: int, capacity: int, rng: np.random.Generator) -> _State:
        """Return coefficients of zero."""
        d = n_features
        factor = np.empty((slots, d, d))
        for slot in range(slots):
            set_penalty(factor[slot], self.penalty)
        since = np.zeros(slots, np.int64)
        return _State(
            np.zeros((slots, d)), factor, np.empty(d), np.empty(d), since, float(self.penalty)
        )
