"""Logistic regression by penalised maximum likelihood, quick for many fits to similar rows."""

from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.regression.cholesky import factorise
from giro.kernels.regression.inverse import set_penalty
from giro.kernels.regression.likelihood import Likelihood, best_length, derivatives, sigmoid
from giro.kernels.regression.quasi_newton import next_step, no_steps, remember
from giro.kernels.regression.rare_columns import settle_rare_columns
from giro.kernels.regression.rows import Rows, is_sparse, weighted_gram
from giro.kernels.regression.vectors import add_multiple, assign, dot

__all__ = ["Curvature", "fit_logistic", "no_curvature", "sigmoid"]

_MOST_PASSES = 100
_GROWTH = 1.2  # of the rows, after which the Hessian of dense rows is made again
_SLOW = 0.25  # of the squared decrement may be left after a step


class Curvature(NamedTuple):
    """The Hessian of an earlier fit: a good beginning for the next one."""

    factor: np.ndarray  # [feature, feature] U with U'U = Hessian
    rows: np.ndarray  # [1] how many rows it was made of, 0 before the first fit


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

    w and z (`weight` and `total`) are how often each row is taken, and the sum of its rewards in
    [0, 1]. Begins at the θ given, and takes a last step once its length in the metric of the
    Hessian, the Newton decrement, is at most `tolerance`; after that step it is several times
    smaller. A score x'θ is off by at most that times its standard deviation. Returns the number
    of passes over the rows.
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
            remember(steps, step, before, gradient)
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
    """Make and factorise the Hessian Σ w p (1 - p) x x' + penalty I.

    If rounding leaves it singular, its trace times the identity, which is larger, will do.
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
    """Set `step` to Newton's, as long as is best; return the squared decrement."""
    _find_curvature(likelihood, spread, curvature)
    next_step(no_steps(theta.size), curvature.factor, gradient, step)
    decrement = -dot(gradient, step)
    length = best_length(likelihood, theta, step)
    for j in range(step.size):
        step[j] *= length
    return decrement
