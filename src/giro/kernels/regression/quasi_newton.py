"""Steps towards a minimum from an old Hessian and the last few steps.

The limited-memory method of Nocedal (1980, Mathematics of Computation 35), also known as L-BFGS:
how the gradient changed along the last steps corrects the Hessian that one begins with.
"""

from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.regression.cholesky import solve
from giro.kernels.regression.vectors import add_multiple, dot

_REMEMBERED = 8


class Steps(NamedTuple):
    """The last steps; the newest is number `taken - 1`, kept at that number modulo eight."""

    step: np.ndarray  # [i, feature]
    change: np.ndarray  # [i, feature] of the gradient along the step
    taken: np.ndarray  # [1] how many there were


@kernel
def no_steps(n_features: int) -> Steps:
    """Return room for steps."""
    return Steps(
        np.empty((_REMEMBERED, n_features)),
        np.empty((_REMEMBERED, n_features)),
        np.zeros(1, np.int64),
    )


@kernel
def remember(steps: Steps, step: np.ndarray, before: np.ndarray, after: np.ndarray) -> None:
    """Keep a step, with the gradients before and after it."""
    position = steps.taken[0] % _REMEMBERED
    for j in range(step.size):
        steps.step[position, j] = step[j]
        steps.change[position, j] = after[j] - before[j]
    if dot(steps.step[position], steps.change[position]) > 0.0:  # else only rounding is left
        steps.taken[0] += 1


@kernel
def next_step(steps: Steps, factor: np.ndarray, gradient: np.ndarray, step: np.ndarray) -> None:
    """Set `step` to minus the inverse Hessian times the gradient, U'U being the first Hessian."""
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
