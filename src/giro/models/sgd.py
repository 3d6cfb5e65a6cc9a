"""Linear and logistic models by stochastic gradient, as the paper fits them (Section 6.2).

The settings are scikit-learn 1.9's defaults. Every entry of the sample in turn, in an order that is
shuffled for each pass, moves θ against the gradient of its loss plus penalty |θ|² / 2. The passes
end when the mean loss of a pass has not fallen by more than the tolerance below the lowest so far,
five times in a row.
"""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import Positive
from giro.compiling import kernel
from giro.kernels.draws.uniform import shuffled
from giro.kernels.giro.pseudo_rewards import ONE, REAL, ZERO
from giro.kernels.regression.linear_algebra import dot
from giro.kernels.regression.logistic import sigmoid
from giro.kernels.regression.rows import Rows
from giro.model import Model, Sample, recent, whole_counts
from giro.offer import Context

_MOST_PASSES = 1000
_PATIENCE = 5  # passes without improvement
_STEEPEST = 1e12  # larger slopes of the loss are cut
_LARGE = 1e300  # half the largest number is larger
_LARGEST = 1e6  # a larger coefficient was not learned but comes from overshooting


class SgdEntries(NamedTuple):
    """Contexts and targets, one for each entry of the sample."""

    contexts: np.ndarray  # [row, feature]
    row: np.ndarray  # [entry]
    target: np.ndarray  # [entry]
    square: np.ndarray  # [entry] squared length of its context


class Descent(NamedTuple):
    """The loss to minimise, and when to stop."""

    logistic: bool  # cross-entropy of 1 / (1 + exp(-x'θ)), otherwise half the squared error of x'θ
    penalty: float
    tolerance: float


@kernel
def sgd_entries(rows: Rows, positions: np.ndarray, counts: np.ndarray) -> SgdEntries:
    """Return an entry for each draw of a row, with the reward of that draw."""
    row = np.empty(counts.sum(), np.int64)
    target, square = np.empty(row.size), np.empty(row.size)
    end = 0
    for i in range(positions.size):
        length = dot(rows.contexts[positions[i]], rows.contexts[positions[i]])
        for kind in (REAL, ONE, ZERO):
            for _ in range(counts[i, kind]):
                row[end], square[end] = positions[i], length
                target[end] = 1.0 if kind == ONE else 0.0
                if kind == REAL:
                    target[end] = rows.rewards[positions[i]]
                end += 1
    return SgdEntries(rows.contexts, row, target, square)


@kernel
def sgd_descend(
    descent: Descent, entries: SgdEntries, theta: np.ndarray, rng: np.random.Generator
) -> int:
    """Move θ towards the minimum, and return the number of passes over the entries.

    With large contexts, steps that are too long can make θ diverge. scikit-learn then gives up with
    an error. Here θ becomes 0, and the next fit starts there.
    """
    lowest, without_improvement, passes = np.inf, 0, 0
    if entries.row.size == 0:
        return 0
    while passes < _MOST_PASSES and without_improvement < _PATIENCE:
        order = shuffled(entries.row.size, rng)
        loss = _pass(descent, entries, theta, order, float(1 + passes * order.size))
        passes += 1
        without_improvement = without_improvement + 1 if loss > lowest - descent.tolerance else 0
        lowest = min(lowest, loss)
    for j in range(theta.size):
        if not abs(theta[j]) <= _LARGEST:
            theta[:] = 0.0
    return passes


@kernel
def _pass(
    descent: Descent, entries: SgdEntries, theta: np.ndarray, order: np.ndarray, t: float
) -> float:
    """Take one step for each entry, from step t on, and return the mean loss and penalty.

    The squared length of θ is updated at each step. The logarithms in the loss are taken of a
    product of many terms.
    """
    total, product, length = 0.0, 1.0, dot(theta, theta)
    for i in range(order.size):
        context, y = entries.contexts[entries.row[order[i]]], entries.target[order[i]]
        score = dot(context, theta)
        total += 0.5 * descent.penalty * length
        if descent.logistic:
            tail = math.exp(-abs(score))
            slope = (1.0 if score >= 0.0 else tail) / (1.0 + tail) - y
            total += max(score, 0.0) - y * score
            product *= 1.0 + tail  # at most 2
            if product > _LARGE:
                total, product = total + math.log(product), 1.0
        else:
            slope = score - y
            total += 0.5 * slope * slope
        rate = _rate(descent, t + i)
        keep = max(0.0, 1.0 - rate * descent.penalty)
        move = -rate * min(max(slope, -_STEEPEST), _STEEPEST)
        length = keep * keep * length + move * (
            2.0 * keep * score + move * entries.square[order[i]]
        )
        for j in range(theta.size):
            theta[j] = keep * theta[j] + move * context[j]
    return (total + math.log(product)) / order.size


@kernel
def _rate(descent: Descent, t: float) -> float:
    """Return the rate of step t = 1, 2, ..., called `optimal` or `invscaling` in scikit-learn.

    With cross-entropy it is 1 / (penalty (t₀ + t)), which starts at penalty^(-1/4) (Bottou, 2012).
    With squared errors it is 0.01 t^(-1/4).
    """
    if descent.logistic:
        first = 1.0 / math.sqrt(math.sqrt(descent.penalty))
        return 1.0 / (1.0 / first + descent.penalty * (t - 1.0))
    return 0.01 / math.sqrt(math.sqrt(t))


class _State(NamedTuple):
    """Coefficients, and how they are fitted."""

    theta: np.ndarray  # [slot, feature]
    descent: Descent


@kernel
def _refit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Descend from the slot's last fit."""
    sample = recent(sample)
    entries = sgd_entries(sample.rows, sample.positions, whole_counts(sample, rng))
    sgd_descend(state.descent, entries, state.theta[slot], rng)


@kernel
def _value(state: _State, slot: int, context: Context) -> float:
    score = dot(state.theta[slot], context)
    return sigmoid(score) if state.descent.logistic else score


@dataclass(frozen=True)
class _Sgd(Model):
    """A linear score, fitted by stochastic gradient descent from the slot's last fit."""

    fitting = "train"
    refit = staticmethod(_refit)
    partial_fit = staticmethod(_refit)
    value = staticmethod(_value)
    takes_weights = False
    logistic = False  # whether the score is that of a logistic model

    penalty: Positive = field(default=1e-4, kw_only=True)
    tolerance: Positive = field(default=1e-3, kw_only=True)

    def start(self, slots: int, n_features: int, capacity: int, rng: np.random.Generator) -> _State:
        """Return coefficients of zero."""
        descent = Descent(self.logistic, float(self.penalty), float(self.tolerance))
        return _State(np.zeros((slots, n_features)), descent)


@dataclass(frozen=True)
class LinearSgd(_Sgd, name="linear-sgd"):
    """Least squares by stochastic gradient descent with scikit-learn's default settings.

    Like `SGDRegressor()`, it has the rate 0.01 t^(-1/4) and makes at most 1000 passes over the
    sample, until half the squared error plus `penalty` times half the squared length of θ falls by
    less than `tolerance`. It starts from the slot's last fit. Differs from the paper: if contexts
    are so large that it diverges, θ becomes 0, where scikit-learn raises an error.
    """

    source = "Kveton et al. 2019, Section 6.2"


@dataclass(frozen=True)
class LogisticSgd(_Sgd, name="logistic-sgd"):
    """Logistic regression by stochastic gradient descent with scikit-learn's default settings.

    Like `SGDClassifier(loss="log_loss")`, it has the rate called `optimal` and makes at most 1000
    passes over the sample, until its cross-entropy plus `penalty` times half the squared length of
    θ falls by less than `tolerance`. It starts from the slot's last fit. Rewards may be any numbers
    in [0, 1].
    """

    source = "Kveton et al. 2019, Section 6.2"
    logistic = True
