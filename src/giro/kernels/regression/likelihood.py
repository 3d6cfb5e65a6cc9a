"""The penalised likelihood of P(reward 1 | x) = 1 / (1 + exp(-x'θ)), and its derivatives."""

import math
from typing import NamedTuple

import numpy as np

from giro.compiling import inline_kernel, kernel
from giro.kernels.regression.rows import Rows, scores
from giro.kernels.regression.vectors import add_multiple, dot


class Likelihood(NamedTuple):
    """L(θ) = Σ [w log(1 + exp(x'θ)) - z x'θ] + penalty |θ|² / 2, a sum over rows; convex."""

    rows: Rows
    positions: np.ndarray  # [i] numbers of the rows
    weight: np.ndarray  # [i] w, how often the row is taken
    total: np.ndarray  # [i] z, the sum of its rewards in [0, 1]
    penalty: float


@inline_kernel
def sigmoid(score: float) -> float:
    """Return 1 / (1 + exp(-score)), without overflow."""
    e = math.exp(-abs(score))
    return (1.0 if score >= 0.0 else e) / (1.0 + e)


@kernel
def derivatives(
    likelihood: Likelihood, theta: np.ndarray, gradient: np.ndarray, spread: np.ndarray
) -> None:
    """Set `gradient` to that of L, and spread[i] to w p (1 - p), of which the Hessian is made.

    One pass: a row's score, and then its part of the gradient while the row is still at hand.
    """
    rows, positions, weight = likelihood.rows, likelihood.positions, likelihood.weight
    dense = rows.dense[: rows.filled[1]]
    inner, slopes_of_dense = theta[dense], np.zeros(dense.size)
    level, sum_of_slopes = dot(rows.base, theta) - dot(rows.base[dense], inner), 0.0
    gradient[:] = 0.0
    for i in range(positions.size):
        row = positions[i]
        packed = rows.packed[row * dense.size : (row + 1) * dense.size]
        score = level + dot(packed, inner)
        for k in range(rows.first[row], rows.middle[row]):
            score += rows.change[k] * theta[rows.column[k]]
        p = sigmoid(score)
        slope = weight[i] * p - likelihood.total[i]
        spread[i] = weight[i] * p * (1.0 - p)
        sum_of_slopes += slope
        add_multiple(slopes_of_dense, slope, packed)
        for k in range(rows.first[row], rows.middle[row]):
            gradient[rows.column[k]] += slope * rows.change[k]
    add_multiple(gradient, sum_of_slopes, rows.base)
    for j in range(dense.size):
        gradient[dense[j]] = slopes_of_dense[j]
    add_multiple(gradient, likelihood.penalty, theta)


@kernel
def best_length(likelihood: Likelihood, theta: np.ndarray, step: np.ndarray) -> float:
    """Return about how many steps from θ lead to the smallest L on that line.

    The derivative along the line grows and is brought below a third of what it was, by Newton's
    method with bisection where that leaves the bracket. Costs no pass over the rows per trial.
    """
    score = np.empty(likelihood.positions.size)
    climb = np.empty(likelihood.positions.size)  # of the scores, per step
    scores(likelihood.rows, likelihood.positions, theta, score)
    scores(likelihood.rows, likelihood.positions, step, climb)
    across, square = likelihood.penalty * dot(theta, step), likelihood.penalty * dot(step, step)
    slope, _ = _along(likelihood, score, climb, 0.0)
    enough = abs(slope + across) / 3.0
    low, high, length = 0.0, np.inf, 1.0
    for _ in range(50):
        slope, curvature = _along(likelihood, score, climb, length)
        slope += across + length * square
        if abs(slope) <= enough:
            break
        if slope < 0.0:
            low = length
        else:
            high = length
        length -= slope / (curvature + square)
        if not low < length < high:
            length = 2.0 * low if high == np.inf else 0.5 * (low + high)
    return length


@kernel
def _along(
    likelihood: Likelihood, score: np.ndarray, climb: np.ndarray, length: float
) -> tuple[float, float]:
    """Return the first two derivatives along a line, of the sum over the rows."""
    slope, curvature = 0.0, 0.0
    for i in range(score.size):
        w = likelihood.weight[i]
        p = sigmoid(score[i] + length * climb[i])
        slope += (w * p - likelihood.total[i]) * climb[i]
        curvature += w * p * (1.0 - p) * climb[i] * climb[i]
    return slope, curvature
