"""A logistic regression for each arm, refitted to all its rewards after each of them."""

import math
from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.regression.linear_algebra import add_row, set_penalty, widen_factor
from giro.kernels.regression.logistic import Curvature, fit_logistic
from giro.kernels.regression.rows import Rows, append_row, empty_rows, positions_of

TOLERANCE = 1e-9  # error of a score, in standard deviations of it


class LogisticArms(NamedTuple):
    """For each arm the θ of maximal penalised likelihood, and V = penalty I + Σ x x'."""

    rows: Rows
    theta: np.ndarray  # [arm, feature]
    factor: np.ndarray  # [arm, feature, feature] U with U'U = V
    curvature: np.ndarray  # [arm, feature, feature] kept from one fit to the next
    curved: np.ndarray  # [arm] rows that the curvature was computed from
    weight: np.ndarray  # [i] workspace for the weights of an arm's rows
    total: np.ndarray  # [i] workspace for the rewards of these rows
    workspace: np.ndarray  # [feature]
    penalty: float

    def widened(self, old: "LogisticArms") -> None:
        """Fill in new columns, in which all rows so far are 0."""
        for arm in np.flatnonzero(old.curved):
            widen_factor(self.curvature[arm], old.theta.shape[1], self.penalty)


def empty_logistic_arms(
    n_arms: int, n_features: int, capacity: int, penalty: float
) -> LogisticArms:
    """Return regressions before any reward, θ = 0, with room for `capacity` rewards."""
    d = n_features
    arms = LogisticArms(
        empty_rows(n_arms, d, capacity),
        np.zeros((n_arms, d)),
        np.empty((n_arms, d, d)),
        np.empty((n_arms, d, d)),
        np.zeros(n_arms, np.int64),
        np.ones(capacity),
        np.empty(capacity),
        np.empty(d),
        float(penalty),
    )
    for arm in range(n_arms):
        set_penalty(arms.factor[arm], penalty)
    return arms


@kernel
def observe(arms: LogisticArms, context: np.ndarray, arm: int, reward: float) -> None:
    """Add one reward of the arm, and refit its θ, starting from the last fit."""
    append_row(arms.rows, context, arm, reward)
    add_row(arms.factor[arm], context, 1.0, arms.workspace)
    positions = positions_of(arms.rows, arm)
    for i in range(positions.size):
        arms.total[i] = arms.rows.rewards[positions[i]]
    fit(arms, arm, arms.theta[arm], curvature_of(arms, arm))


@kernel
def curvature_of(arms: LogisticArms, arm: int) -> Curvature:
    """Return the curvature that the arm's last fit left for the next one."""
    return Curvature(arms.curvature[arm], arms.curved[arm : arm + 1])


@kernel
def fit(arms: LogisticArms, arm: int, theta: np.ndarray, curvature: Curvature) -> None:
    """Fit θ to the arm's rows with the first weights and totals in the workspaces."""
    positions = positions_of(arms.rows, arm)
    weight, total = arms.weight[: positions.size], arms.total[: positions.size]
    fit_logistic(arms.rows, positions, weight, total, arms.penalty, TOLERANCE, theta, curvature)


def logistic_slope(score: float) -> float:
    """Return the derivative of 1 / (1 + exp(-score)), which falls on both sides of 0.

    >>> logistic_slope(0.0)
    0.25
    """
    e = math.exp(-abs(score))
    return e / (1.0 + e) ** 2
