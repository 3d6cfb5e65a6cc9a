"""The inverse of a growing matrix A = penalty I + Σ w x x', kept as U with U'U = A.

Row after row turns U by plane rotations (Golub and Van Loan, 2013, Section 6.5.4) in O(d²). Unlike
rank-one updates of the inverse itself (Sherman and Morrison, 1950), whose rounding errors are as
large as the largest entry of the inverse, rotations keep even the most-observed directions to
nearly all digits, so nothing ever needs to be computed anew. `cholesky.solve` gives A⁻¹ b from U.
"""

import math

import numpy as np

from giro.compiling import kernel
from giro.kernels.regression.vectors import add_multiple, dot


@kernel
def set_penalty(factor: np.ndarray, penalty: float) -> None:
    """Set U to the factor of penalty I."""
    root = math.sqrt(penalty)
    for i in range(factor.shape[0]):
        for j in range(factor.shape[0]):
            factor[i, j] = root if i == j else 0.0


@kernel
def add_row(factor: np.ndarray, row: np.ndarray, weight: float, room: np.ndarray) -> None:
    """Turn the factor of A into that of A + w x x'. `room` is as long as the row; it is lost."""
    d, root = row.size, math.sqrt(weight)
    for j in range(d):
        room[j] = root * row[j]
    for i in range(d):
        if room[i] != 0.0:
            rest = factor[i, i:]
            radius = math.sqrt(rest[0] * rest[0] + room[i] * room[i])
            _rotate(rest, room[i:], rest[0] / radius, room[i] / radius)


@kernel
def _rotate(upper: np.ndarray, lower: np.ndarray, cosine: float, sine: float) -> None:
    for j in range(upper.size):
        high, low = upper[j], lower[j]
        upper[j] = cosine * high + sine * low
        lower[j] = cosine * low - sine * high


@kernel
def squared_width(factor: np.ndarray, row: np.ndarray, room: np.ndarray) -> float:
    """Return x'A⁻¹x, which is the squared length of y with U'y = x; `room` holds y afterwards."""
    for j in range(row.size):
        room[j] = row[j]
    for i in range(row.size):
        room[i] /= factor[i, i]
        add_multiple(room[i + 1 :], -room[i], factor[i, i + 1 :])
    return dot(room, room)
