"""Sums over vectors, in loops that compile to vector instructions without changing the numbers."""

import numpy as np

from giro.compiling import kernel

_PARTS, _LEAF = 8, 128  # partial sums side by side, and the numbers that are added without halving


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
def assign(vector: np.ndarray, other: np.ndarray) -> None:
    """Set a vector to another of the same size; a slice would take a second more to compile."""
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
    parts, whole = values[:_PARTS].copy(), n - n % _PARTS
    for i in range(_PARTS, whole, _PARTS):
        for k in range(_PARTS):
            parts[k] += values[i + k]
    first = (parts[0] + parts[1]) + (parts[2] + parts[3])
    result = first + ((parts[4] + parts[5]) + (parts[6] + parts[7]))
    for i in range(whole, n):
        result += values[i]
    return float(result)
