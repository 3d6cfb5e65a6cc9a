"""Online Newton steps for a logistic model, within a ball (Hazan et al., 2007)."""

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from giro.checks import Needed
from giro.compiling import kernel
from giro.kernels.regression.linear_algebra import (
    add_multiple,
    assign,
    dot,
    factorise,
    solve,
    squared_width,
)
from giro.policies._widths import OptimisticPolicy

_ENOUGH = 1e-12  # relative excess of a length over the radius
_MOST_STEPS = 100
_NORM = Needed("0 < {} <= 100", lambda value: 0.0 < value <= 100.0)  # exp(norm) is a factor


@dataclass(frozen=True)
class OnlineNewtonPolicy(OptimisticPolicy):
    """Parameters of policies with such steps."""

    norm: Annotated[float, _NORM] = field(default=1.0, kw_only=True)


@kernel
def newton_step(
    factor: np.ndarray, theta: np.ndarray, x: np.ndarray, slope: float, norm: float
) -> float:
    """Move θ by -slope A⁻¹x and project it to the ball, for A = U'U, and return x'A⁻¹x."""
    step = x.copy()
    solve(factor, step)
    add_multiple(theta, -slope, step)
    if dot(theta, theta) > norm * norm:
        _project(factor, theta, norm)
    return dot(x, step)


@kernel
def _project(factor: np.ndarray, theta: np.ndarray, norm: float) -> None:
    """Replace θ by the vector of this length that is nearest in the metric of A = U'U.

    It is (A + μ I)⁻¹ A θ with a μ > 0 that Newton's method finds, as one over the length is nearly
    linear in μ (Moré and Sorensen 1983). It increases towards the solution, in a few steps.
    """
    d, mu = theta.size, 0.0
    moment, shifted, workspace = np.zeros(d), np.empty((d, d)), np.empty(d)
    for i in range(d):
        add_multiple(moment[i:], dot(factor[i, i:], theta[i:]), factor[i, i:])
    for _ in range(_MOST_STEPS):
        length = np.sqrt(dot(theta, theta))
        if length <= norm * (1.0 + _ENOUGH):
            break
        _shift(factor, mu, shifted)
        curvature = squared_width(shifted, theta, workspace)
        mu += length * length / curvature * (length - norm) / norm
        _shift(factor, mu, shifted)
        assign(theta, moment)
        solve(shifted, theta)


@kernel
def _shift(factor: np.ndarray, mu: float, shifted: np.ndarray) -> None:
    """Set the factor of U'U + μ I."""
    shifted[:] = 0.0
    for k in range(factor.shape[0]):
        for i in range(k, factor.shape[0]):
            add_multiple(shifted[i, i:], factor[k, i], factor[k, i:])
        shifted[k, k] += mu
    factorise(shifted)
