"""The inverse of a growing matrix A = penalty I + Σ w x x', kept as U with U'U = A.

Row after row turns U by plane rotations (Golub and Van Loan, 2013, Section 6.5.4) in O(d²). Unlike
rank-one updates of the inverse itself (Sherman and Morrison, 1950), whose rounding errors are as
large as the largest entry of the inverse, rotations keep even the most-observed directions to
nearly all digits, so nothing ever needs to be computed again. `cholesky.solve` gives A⁻¹ b from U.
"""

import math

import numpy as np

from giro.compiling import kernel
from giro.kernels.regression.vectors import add_multiple, dot

_LEAST_LEFT = 1e-3  # of a row's direction when it is taken out: three digits are lost at most


@kernel
def set_penalty(factor: np.ndarray, penalty: float) -> None:
    """Set U to the factor of penalty I."""
    root = math.sqrt(penalty)
    for i in range(factor.shape[0]):
        for j in range(factor.shape[0]):
            factor[i, j] = root if i == j else 0.0


@kernel
def add_row(factor: np.ndarray, row: np.ndarray, weight: float, workspace: np.ndarray) -> None:
    """Turn the factor of A into that of A + w x x'. `workspace`, as long as x, is lost."""
    d, root = row.size, math.sqrt(weight)
    for j in range(d):
        workspace[j] = root * row[j]
    for i in range(d):
        if workspace[i] != 0.0:
            rest = factor[i, i:]
            radius = math.sqrt(rest[0] * rest[0] + workspace[i] * workspace[i])
            _rotate(rest, workspace[i:], rest[0] / radius, workspace[i] / radius)


@kernel
def take_row(factor: np.ndarray, row: np.ndarray, workspace: np.ndarray) -> bool:
    """Turn the factor of A into that of A - x x'; False if too little of A would be left.

    After False nothing has changed. Rotations that turn (y, root) into a unit vector, y as in
    `squared_width`, take x out of U (Golub and Van Loan, 2013, Section 6.5.4).
    """
    left = 1.0 - squared_width(factor, row, workspace)
    if not left > _LEAST_LEFT:
        return False
    root, taken = math.sqrt(left), np.zeros(row.size)  # in the end these are 1 and x
    for i in range(row.size - 1, -1, -1):
        radius = math.sqrt(root * root + workspace[i] * workspace[i])
        _rotate(factor[i, i:], taken[i:], root / radius, -workspace[i] / radius)
        root = radius
    return True


@kernel
def _rotate(upper: np.ndarray, lower: np.ndarray, cosine: float, sine: float) -> None:
    for j in range(upper.size):
        high, low = upper[j], lower[j]
        upper[j] = cosine * high + sine * low
        lower[j] = cosine * low - sine * high


@kernel
def squared_width(factor: np.ndarray, row: np.ndarray, workspace: np.ndarray) -> float:
    """Return x'A⁻¹x, which is the squared length of y with U'y = x; `workspace` becomes y."""
    for j in range(row.size):
        workspace[j] = row[j]
    for i in range(row.size):
        workspace[i] /= factor[i, i]
        add_multiple(workspace[i + 1 :], -workspace[i], factor[i, i + 1 :])
    return dot(workspace, workspace)
