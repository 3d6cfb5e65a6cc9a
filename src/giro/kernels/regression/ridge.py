"""A ridge regression for each arm, kept up to date reward by reward in O(d²)."""

from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.regression.cholesky import solve
from giro.kernels.regression.inverse import add_row, set_penalty
from giro.kernels.regression.vectors import add_multiple


class Ridge(NamedTuple):
    """Of each arm A = penalty I + Σ x x' and b = Σ r x over its pulls, and θ = A⁻¹ b."""

    factor: np.ndarray  # [arm, feature, feature] U with U'U = A
    moment: np.ndarray  # [arm, feature] b
    theta: np.ndarray  # [arm, feature]
    workspace: np.ndarray  # [feature] for the work on one row


def empty_ridge(n_arms: int, n_features: int, penalty: float) -> Ridge:
    """Return regressions on no rewards: θ = 0."""
    ridge = Ridge(
        np.empty((n_arms, n_features, n_features)),
        np.zeros((n_arms, n_features)),
        np.zeros((n_arms, n_features)),
        np.empty(n_features),
    )
    for arm in range(n_arms):
        set_penalty(ridge.factor[arm], penalty)
    return ridge


@kernel
def observe(ridge: Ridge, context: np.ndarray, arm: int, reward: float) -> None:
    """Take in one reward of the arm, and solve for its θ."""
    add_row(ridge.factor[arm], context, 1.0, ridge.workspace)
    add_multiple(ridge.moment[arm], reward, context)
    theta = ridge.theta[arm]
    for j in range(theta.size):
        theta[j] = ridge.moment[arm, j]
    solve(ridge.factor[arm], theta)
