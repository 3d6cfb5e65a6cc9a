"""Positive definite matrices: U with U'U = A, solutions of A x = b, the inverse of A.

Written out instead of left to LAPACK: the same numbers on every machine and in plain Python, and no
threads under the threads of a simulation. All loops run along rows.
"""

import math

import numpy as np

from giro.compiling import kernel
from giro.kernels.regression.vectors import add_multiple, dot


@kernel
def factorise(matrix: np.ndarray) -> bool:
    """Turn the upper triangle of A into U with U'U = A; False if A is not positive definite.

    Only the upper triangle is read and written. After False it holds nothing of use.
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
    """Turn b into the solution x of U'U x = b."""
    d = vector.size
    for i in range(d):  # U'y = b
        vector[i] /= factor[i, i]
        add_multiple(vector[i + 1 :], -vector[i], factor[i, i + 1 :])
    for i in range(d - 1, -1, -1):  # U x = y
        rest = dot(factor[i, i + 1 :], vector[i + 1 :])
        vector[i] = (vector[i] - rest) / factor[i, i]


@kernel
def inverse_from(factor: np.ndarray, out: np.ndarray) -> None:
    """Write the inverse of U'U into `out`, symmetric to the last digit."""
    d = out.shape[0]
    for i in range(d):
        out[i] = 0.0
        out[i, i] = 1.0
        solve(factor, out[i])
    for i in range(d):
        for j in range(i):
            out[i, j] = out[j, i]


@kernel
def log_det(factor: np.ndarray) -> float:
    """Return the logarithm of the determinant of U'U."""
    total = 0.0
    for i in range(factor.shape[0]):
        total += math.log(factor[i, i])
    return 2.0 * total
