"""Logistic regression by penalised maximum likelihood, fast for many fits to similar rows.

P(reward 1 | x) = 1 / (1 + exp(-x'θ)). Steps towards the minimum follow from an old Hessian and the
last few steps, by the limited-memory method of Nocedal (1980, Mathematics of Computation 35), also
known as L-BFGS: the changes of the gradient along the last steps correct the initial Hessian.

Coefficients of columns that few rows change are first solved for one by one. A one-hot column that
occurs in three rows, all of them rewarded, needs a coefficient as large as the penalty allows.
Newton's method gets there in ten steps over all rows, because each step only divides the slope by
e. Alone, the column needs only its three rows.
"""

import math
from typing import NamedTuple

import numpy as np

from giro.compiling import inline_kernel, kernel
from giro.kernels.regression.linear_algebra import (
    add_multiple,
    assign,
    dot,
    factorise,
    set_penalty,
    solve,
)
from giro.kernels.regression.rows import Rows, is_sparse, scores, weighted_gram

_MOST_PASSES = 100
_GROWTH = 1.2  # of the rows, after which the Hessian of dense rows is computed again
_SLOW = 0.25  # largest share of the squared decrement that may remain after a step
_REMEMBERED = 8  # steps
_RARE = 0.05  # largest share of the rows that change a rare column
_MOST_TRIALS = 30  # of a rare column's coefficient alone
_NEAR_ENOUGH = 1e-3  # of its standard deviation; steps for all columns do the rest


class Likelihood(NamedTuple):
    """The convex L(θ) = Σ [w log(1 + exp(x'θ)) - z x'θ] + penalty |θ|² / 2, a sum over rows."""

    rows: Rows
    positions: np.ndarray  # [i] numbers of the rows
    weight: np.ndarray  # [i] w, how often the row is used
    total: np.ndarray  # [i] z, the sum of its rewards in [0, 1]
    penalty: float


@inline_kernel
def sigmoid(score: float) -> float:
    """Return 1 / (1 + exp(-score)), for any score.

    Regressions may reach scores of any size. The last digit differs from that of
    `network.clipped_sigmoid`. Both stay, so that draws and fits stay the same.
    """
    e = math.exp(-abs(score))
    return (1.0 if score >= 0.0 else e) / (1.0 + e)


class Curvature(NamedTuple):
    """The Hessian of an earlier fit, a good start for the next one."""

    factor: np.ndarray  # [feature, feature] U with U'U = Hessian
    rows: np.ndarray  # [1] rows that it was computed from, 0 before the first fit


def no_curvature(n_features: int) -> Curvature:
    """Return a workspace for the Hessian, before the first fit."""
    return Curvature(np.empty((n_features, n_features)), np.zeros(1, np.int64))


@kernel
def fit_logistic(
    rows: Rows,
    positions: np.ndarray,
    weight: np.ndarray,
    total: np.ndarray,
    penalty: float,
    tolerance: float,
    theta: np.ndarray,
    curvature: Curvature,
) -> int:
    """Set θ to the minimiser of Σ [w log(1 + exp(x'θ)) - z x'θ] + penalty |θ|² / 2.

    w and z (`weight` and `total`) are how often each row is used, and the sum of its rewards in
    [0, 1]. The fit starts from the θ given. It ends with the step whose length in the metric of the
    Hessian, the Newton decrement, is at most `tolerance`. After that step the decrement is several
    times smaller. The error of a score x'θ is at most that times its standard deviation. Returns
    the number of passes over the rows.
    """
    likelihood = Likelihood(rows, positions, weight, total, penalty)
    gradient, before, step = np.empty(theta.size), np.empty(theta.size), np.empty(theta.size)
    spread, steps = np.empty(positions.size), no_steps(theta.size)
    settle_rare_columns(likelihood, theta)
    decrement, last, careful = 0.0, np.inf, False  # decrements are squared
    for passes in range(1, _MOST_PASSES + 1):
        assign(before, gradient)
        derivatives(likelihood, theta, gradient, spread)
        if passes > 1:
            remember_step(steps, step, before, gradient)
        elif is_sparse(rows) or positions.size > _GROWTH * curvature.rows[0]:
            _find_curvature(likelihood, spread, curvature)
        next_step(steps, curvature.factor, gradient, step)
        decrement = -dot(gradient, step)
        careful = careful or decrement > _SLOW * last
        if careful:
            decrement = _careful_step(likelihood, spread, curvature, theta, gradient, step)
        add_multiple(theta, 1.0, step)
        if decrement <= tolerance * tolerance:
            break
        last = decrement
    return passes


@kernel
def _find_curvature(likelihood: Likelihood, spread: np.ndarray, curvature: Curvature) -> None:
    """Compute and factorise the Hessian Σ w p (1 - p) x x' + penalty I.

    If rounding leaves it singular, its trace times the identity, which is larger, replaces it.
    """
    hessian, trace = curvature.factor, 0.0
    weighted_gram(likelihood.rows, likelihood.positions, spread, hessian)
    for j in range(hessian.shape[0]):
        hessian[j, j] += likelihood.penalty
        trace += hessian[j, j]
    if not factorise(hessian):
        set_penalty(hessian, trace)
    curvature.rows[0] = likelihood.positions.size


@kernel
def _careful_step(
    likelihood: Likelihood,
    spread: np.ndarray,
    curvature: Curvature,
    theta: np.ndarray,
    gradient: np.ndarray,
    step: np.ndarray,
) -> float:
    """Set `step` to Newton's step of the best length, and return the squared decrement."""
    _find_curvature(likelihood, spread, curvature)
    next_step(no_steps(theta.size), curvature.factor, gradient, step)
    decrement = -dot(gradient, step)
    length = best_length(likelihood, theta, step)
    for j in range(step.size):
        step[j] *= length
    return decrement


@kernel
def derivatives(
    likelihood: Likelihood, theta: np.ndarray, gradient: np.ndarray, spread: np.ndarray
) -> None:
    """Set `gradient` to that of L, and spread[i] to w p (1 - p), the weights of the Hessian.

    One pass computes a row's score, and then its part of the gradient while the row is in cache.
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

    The derivative along the line increases. Newton's method, with bisection if it leaves the
    bracket, brings it below a third of its first value. A trial costs no pass over the rows.
    """
    score = np.empty(likelihood.positions.size)
    climb = np.empty(likelihood.positions.size)  # of the scores, per step
    scores(likelihood.rows, likelihood.positions, theta, score)
    scores(likelihood.rows, likelihood.positions, step, climb)
    across, square = likelihood.penalty * dot(theta, step), likelihood.penalty * dot(step, step)
    slope, _ = _derivatives_along(likelihood, score, climb, 0.0)
    enough = abs(slope + across) / 3.0
    low, high, length = 0.0, np.inf, 1.0
    for _ in range(50):
        slope, curvature = _derivatives_along(likelihood, score, climb, length)
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
def _derivatives_along(
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


class Steps(NamedTuple):
    """The last steps. The newest has number `taken - 1` and is kept at that number modulo eight."""

    step: np.ndarray  # [i, feature]
    change: np.ndarray  # [i, feature] of the gradient along the step
    taken: np.ndarray  # [1] number of steps so far


@kernel
def no_steps(n_features: int) -> Steps:
    """Return a workspace for steps."""
    return Steps(
        np.empty((_REMEMBERED, n_features)),
        np.empty((_REMEMBERED, n_features)),
        np.zeros(1, np.int64),
    )


@kernel
def remember_step(steps: Steps, step: np.ndarray, before: np.ndarray, after: np.ndarray) -> None:
    """Keep a step, with the gradients before and after it."""
    position = steps.taken[0] % _REMEMBERED
    for j in range(step.size):
        steps.step[position, j] = step[j]
        steps.change[position, j] = after[j] - before[j]
    if dot(steps.step[position], steps.change[position]) > 0.0:  # otherwise it is only rounding
        steps.taken[0] += 1


@kernel
def next_step(steps: Steps, factor: np.ndarray, gradient: np.ndarray, step: np.ndarray) -> None:
    """Set `step` to minus the inverse Hessian times the gradient, with U'U the first Hessian."""
    shares = np.empty(_REMEMBERED)
    oldest = max(steps.taken[0] - _REMEMBERED, 0)
    for j in range(step.size):
        step[j] = -gradient[j]
    for i in range(steps.taken[0] - 1, oldest - 1, -1):
        s, y = steps.step[i % _REMEMBERED], steps.change[i % _REMEMBERED]
        share = dot(s, step) / dot(s, y)
        add_multiple(step, -share, y)
        shares[i % _REMEMBERED] = share
    solve(factor, step)
    for i in range(oldest, steps.taken[0]):
        s, y = steps.step[i % _REMEMBERED], steps.change[i % _REMEMBERED]
        add_multiple(step, shares[i % _REMEMBERED] - dot(y, step) / dot(s, y), s)


@kernel
def settle_rare_columns(likelihood: Likelihood, theta: np.ndarray) -> None:
    """Set each rare column's coefficient to the best one given the others.

    The column is treated as zero outside the rows that change it, which is nearly true.
    """
    begin = _rare_begins(likelihood, theta.size)
    entry, change = np.empty(begin[-1], np.int64), np.empty(begin[-1])
    if entry.size == 0:
        return
    _list_changes(likelihood, begin, entry, change)
    score = np.empty(likelihood.positions.size)
    scores(likelihood.rows, likelihood.positions, theta, score)
    for j in range(theta.size):
        if begin[j] < begin[j + 1]:
            of_column = slice(begin[j], begin[j + 1])
            theta[j] = _best_coefficient(
                likelihood, entry[of_column], change[of_column], score, theta[j]
            )


@kernel
def _rare_begins(likelihood: Likelihood, n_features: int) -> np.ndarray:
    """Return where the entries of each column begin. Columns that are not rare have none."""
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
def _list_changes(
    likelihood: Likelihood, begin: np.ndarray, entry: np.ndarray, change: np.ndarray
) -> None:
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
def _best_coefficient(
    likelihood: Likelihood, entry: np.ndarray, change: np.ndarray, score: np.ndarray, start: float
) -> float:
    """Return the coefficient at which the slope is 0, by Newton's method within a bracket."""
    low, high, t = -np.inf, np.inf, start
    for _ in range(_MOST_TRIALS):
        slope, curvature = likelihood.penalty * t, likelihood.penalty
        for e in range(entry.size):
            i, x = entry[e], change[e]
            w = likelihood.weight[i]
            p = sigmoid(score[i] + x * (t - start))
            slope += (w * p - likelihood.total[i]) * x
            curvature += w * p * (1.0 - p) * x * x
        if slope * slope <= _NEAR_ENOUGH * _NEAR_ENOUGH * curvature:
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
