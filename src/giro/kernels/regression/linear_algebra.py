"""Vectors, and positive definite matrices A kept as U with U'U = A.

The code does not use LAPACK, so that numbers are the same on every machine and in plain Python, and
no threads run below the threads of a simulation. All loops run along rows, and compile to vector
instructions without changing the numbers.

A matrix A = penalty I + Σ w x x' grows row by row. Each row updates U by plane rotations (Golub and
Van Loan, 2013, Section 6.5.4) in O(d²). Rank-one updates of the inverse itself (Sherman and
Morrison, 1950) have rounding errors as large as the largest entry of the inverse. Rotations keep
even the most-observed directions to nearly all digits, so nothing ever needs to be recomputed.
`solve` gives A⁻¹ b from U.
"""

import math

import numpy as np

from giro.compiling import kernel

_PARTS, _LEAF = 8, 128  # partial sums side by side, and the numbers added without halving


@kernel
def dot(left: np.ndarray, right: np.ndarray) -> float:
    """Return the sum of products, added in four parts, as one would wait for each addition."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    fours = left.size // 4
    for block in range(fours):
        i = 4 * block
        a += left[i] * right[i]
        b += left[i + 1] * right[i + 1]
        c += left[i + 2] * right[i + 2]
        d += left[i + 3] * right[i + 3]
    for i in range(4 * fours, left.size):
        a += left[i] * right[i]
    return (a + b) + (c + d)


@kernel
def assign(vector: np.ndarray, other: np.ndarray) -> None:
    """Copy a vector into another. A slice would take a second longer to compile."""
    for i in range(vector.size):
        vector[i] = other[i]


@kernel
def add_multiple(vector: np.ndarray, factor: float, other: np.ndarray) -> None:
    """Add `factor` times the other vector to the first one."""
    for i in range(vector.size):
        vector[i] += factor * other[i]


@kernel
def total(values: np.ndarray) -> float:
    """Return the sum by halving, in an order that no version of NumPy or numba changes.

    Errors grow with the logarithm of the number of values (Higham, 1993). Halves are multiples of
    eight, and up to 128 numbers are added in eight partial sums.
    """
    n = values.size
    if n < _PARTS:
        result = 0.0
        for i in range(n):
            result += values[i]
        return float(result)
    if n > _LEAF:
        middle = n // 2 - (n // 2) % _PARTS
        return total(values[:middle]) + total(values[middle:])
    parts, even = values[:_PARTS].copy(), n - n % _PARTS
    for i in range(_PARTS, even, _PARTS):
        for k in range(_PARTS):
            parts[k] += values[i + k]
    first = (parts[0] + parts[1]) + (parts[2] + parts[3])
    result = first + ((parts[4] + parts[5]) + (parts[6] + parts[7]))
    for i in range(even, n):
        result += values[i]
    return float(result)


@kernel
def factorise(matrix: np.ndarray) -> bool:
    """Replace the upper triangle of A by U with U'U = A, and return whether that is possible.

    It is not if A is not positive definite. Only the upper triangle is read and written. After
    False its content is useless.
    """
    for i in range(matrix.shape[0]):
        row = matrix[i, i:]
        for k in range(i):
            add_multiple(row, -matrix[k, i], matrix[k, i:])
        if not row[0] > 0.0:
            return False
        pivot = math.sqrt(row[0])
        for j in range(row.size):
            row[j] /= pivot
    return True


@kernel
def solve(factor: np.ndarray, vector: np.ndarray) -> None:
    """Replace b by the solution x of U'U x = b."""
    d = vector.size
    for i in range(d):  # U'y = b
        vector[i] /= factor[i, i]
        add_multiple(vector[i + 1 :], -vector[i], factor[i, i + 1 :])
    for i in range(d - 1, -1, -1):  # U x = y
        rest = dot(factor[i, i + 1 :], vector[i + 1 :])
        vector[i] = (vector[i] - rest) / factor[i, i]


@kernel
def log_det(factor: np.ndarray) -> float:
    """Return the logarithm of the determinant of U'U."""
    total = 0.0
    for i in range(factor.shape[0]):
        total += math.log(factor[i, i])
    return 2.0 * total


def widen_factor(factor: np.ndarray, width: int, penalty: float) -> None:
    """Give U, of which the first `width` columns are in use, the columns of rows that were all 0.

    U'U = penalty I + Σ w x x' is then penalty I there.
    """
    factor[width:], factor[:, width:] = 0.0, 0.0
    new = np.arange(width, factor.shape[0])
    factor[new, new] = math.sqrt(penalty)


@kernel
def set_penalty(factor: np.ndarray, penalty: float) -> None:
    """Set U to the factor of penalty I."""
    root = math.sqrt(penalty)
    for i in range(factor.shape[0]):
        for j in range(factor.shape[0]):
            factor[i, j] = root if i == j else 0.0


@kernel
def add_row(factor: np.ndarray, row: np.ndarray, weight: float, workspace: np.ndarray) -> None:
    """Replace the factor of A by that of A + w x x'. `workspace`, as long as x, is overwritten."""
    d, root = row.size, math.sqrt(weight)
    for j in range(d):
        workspace[j] = root * row[j]
    for i in range(d):
        if workspace[i] != 0.0:
            rest = factor[i, i:]
            radius = math.sqrt(rest[0] * rest[0] + workspace[i] * workspace[i])
            _rotate(rest, workspace[i:], rest[0] / radius, workspace[i] / radius)


@kernel
def fade_factor(factor: np.ndarray, left: float, penalty: float, workspace: np.ndarray) -> None:
    """Replace the factor of A by that of left A + (1 - left) penalty I, in O(d³)."""
    d, root = workspace.size, math.sqrt(left)
    unit = np.zeros(d)
    for i in range(d):
        for j in range(i, d):
            factor[i, j] *= root
    for j in range(d):
        unit[j] = 1.0
        add_row(factor, unit, (1.0 - left) * penalty, workspace)
        unit[j] = 0.0


@kernel
def _rotate(upper: np.ndarray, lower: np.ndarray, cosine: float, sine: float) -> None:
    for j in range(upper.size):
        high, low = upper[j], lower[j]
        upper[j] = cosine * high + sine * low
        lower[j] = cosine * low - sine * high


@kernel
def squared_width(factor: np.ndarray, row: np.ndarray, workspace: np.ndarray) -> float:
    """Return x'A⁻¹x, the squared length of y with U'y = x, and leave y in `workspace`."""
    for j in range(row.size):
        workspace[j] = row[j]
    for i in range(row.size):
        workspace[i] /= factor[i, i]
        add_multiple(workspace[i + 1 :], -workspace[i], factor[i, i + 1 :])
    return dot(workspace, workspace)
