"""Sums over vectors, in loops that compile to vector instructions without changing the numbers."""

import numpy as np

from giro.compiling import kernel


@kernel
def dot(left: np.ndarray, right: np.ndarray) -> float:
    """Return the sum of products, added up in four parts: one part would wait for each addition."""
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
def add_multiple(vector: np.ndarray, factor: float, other: np.ndarray) -> None:
    """Add `factor` times the other vector to the first one."""
    for i in range(vector.size):
        vector[i] += factor * other[i]
