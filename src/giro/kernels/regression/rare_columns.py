"""Coefficients of columns that few rows change, each solved for on its own.

A one-hot column seen in three rows, all of them rewarded, wants a coefficient as large as the
penalty lets it be. Newton's method goes there in ten steps over all rows, because each step only
divides the slope by e; alone, the column needs its three rows.
"""

import numpy as np

from giro.compiling import kernel
from giro.kernels.regression.likelihood import Likelihood, sigmoid
from giro.kernels.regression.rows import scores

_RARE = 0.05  # of the rows change the column
_MOST_STEPS = 30
_NEAR = 1e-3  # of a standard deviation of the coefficient; what is left is for all columns together


@kernel
def settle_rare_columns(likelihood: Likelihood, theta: np.ndarray) -> None:
    """Set each rare column's coefficient to the best one given the others.

    As if a column were zero but in the rows that change it, which is nearly true of rare ones.
    """
    begin = _rare_begins(likelihood, theta.size)
    entry, change = np.empty(begin[-1], np.int64), np.empty(begin[-1])
    if entry.size == 0:
        return
    _fill(likelihood, begin, entry, change)
    score = np.empty(likelihood.positions.size)
    scores(likelihood.rows, likelihood.positions, theta, score)
    for j in range(theta.size):
        if begin[j] < begin[j + 1]:
            of_column = slice(begin[j], begin[j + 1])
            theta[j] = _best(likelihood, entry[of_column], change[of_column], score, theta[j])


@kernel
def _rare_begins(likelihood: Likelihood, n_features: int) -> np.ndarray:
    """Return where each column's entries begin; columns that are not rare have none."""
    rows, positions = likelihood.rows, likelihood.positions
    count = np.zeros(n_features, np.int64)
    for i in range(positions.size):
        for k in range(rows.first[positions[i]], rows.middle[positions[i]]):
            count[rows.column[k]] += 1
    begin = np.zeros(n_features + 1, np.int64)
    for j in range(n_features):
        begin[j + 1] = begin[j] + (count[j] if count[j] <= _RARE * positions.size else 0)
    return begin


@kernel
def _fill(likelihood: Likelihood, begin: np.ndarray, entry: np.ndarray, change: np.ndarray) -> None:
    """List, for each rare column, the rows that change it and by how much."""
    rows, positions = likelihood.rows, likelihood.positions
    end = begin.copy()
    for i in range(positions.size):
        for k in range(rows.first[positions[i]], rows.middle[positions[i]]):
            j = rows.column[k]
            if begin[j] < begin[j + 1]:
                entry[end[j]] = i
                change[end[j]] = rows.change[k]
                end[j] += 1


@kernel
def _best(
    likelihood: Likelihood, entry: np.ndarray, change: np.ndarray, score: np.ndarray, start: float
) -> float:
    """Return the coefficient where the slope is 0, by Newton's method within a bracket."""
    low, high, t = -np.inf, np.inf, start
    for _ in range(_MOST_STEPS):
        slope, curvature = likelihood.penalty * t, likelihood.penalty
        for e in range(entry.size):
            i, x = entry[e], change[e]
            w = likelihood.weight[i]
            p = sigmoid(score[i] + x * (t - start))
            slope += (w * p - likelihood.total[i]) * x
            curvature += w * p * (1.0 - p) * x * x
        if slope * slope <= _NEAR * _NEAR * curvature:
            break
        if slope > 0.0:
            high = t
        else:
            low = t
        t -= slope / curvature
        if not low < t < high:
            t = 0.5 * (low + high)
    for e in range(entry.size):
        score[entry[e]] += change[e] * (t - start)
    return t
