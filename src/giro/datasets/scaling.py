"""Features on a common scale."""

import math
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from giro.datasets.dataset import frozen
from giro.kernels.regression.linear_algebra import total

Scale: TypeAlias = Literal["column", "unit", "range", "none"]

_BLOCK = 1_024  # rows that are scaled at a time: they stay in the processor's cache
_USUAL = 1e100  # numbers below this, and above its inverse, can be squared and summed


def contexts_of(features: np.ndarray, scale: Scale) -> np.ndarray:
    """Return scaled features, [row, feature].

    `column` standardises each column over all rows, with the population's standard deviation;
    `unit` then gives each row length one; `range` maps each column to [0, 1]; `none` leaves them.
    A constant column becomes 0 unless it is left, and a row of zeros stays one.
    """
    measures = [_measure(features[:, j], scale) for j in range(features.shape[1])]
    factor, shift, spread = np.array(measures).T
    contexts = np.empty(features.shape)
    for first in range(0, features.shape[0], _BLOCK):
        rows = (features[first : first + _BLOCK] * factor - shift) / spread
        if scale == "unit":
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
            rows /= np.where(lengths > 0.0, lengths, 1.0)
        contexts[first : first + _BLOCK] = rows
    return frozen(contexts)


class _Measure(NamedTuple):
    """A column x becomes (factor x - shift) / spread."""

    factor: float
    shift: float
    spread: float


def _measure(column: np.ndarray, scale: Scale) -> _Measure:
    if scale == "none":
        return _Measure(1.0, 0.0, 1.0)
    factor, largest = 1.0, float(np.abs(column).max())
    if largest > 0.0 and not 1.0 / _USUAL < largest < _USUAL:  # a power of two: it loses no digits
        factor = math.ldexp(1.0, min(1_000, -math.frexp(largest)[1]))
    handy = column if factor == 1.0 else column * factor
    low, high = float(handy.min()), float(handy.max())
    if low == high:  # a computed deviation may be rounding, and not 0
        return _Measure(factor, low, 1.0)
    if scale == "range":
        return _Measure(factor, low, high - low)
    handy = np.ascontiguousarray(handy, np.float64)
    mean = total(handy) / handy.size  # NumPy's own sums differ in their last bit between versions
    return _Measure(factor, mean, math.sqrt(total((handy - mean) ** 2) / handy.size))
