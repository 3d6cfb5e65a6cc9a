"""Numbers of any size and unit, as models like them: less their mean, over their spread.

A column's mean and spread are those of the rows that were learned, up to now. So they follow from
the rewards in their order, as all that a policy knows.
"""

import math
from typing import Any, Final

import numpy as np

from giro.compiling import bind, dispatched, inline_kernel, kernel
from giro.offer import SparseRow, SparseRows

FAR = 10.0  # spreads from the mean; a value beyond counts as if it lay there
_STANDARDISED, _COUNT, _MEAN, _SQUARES = range(4)


def no_moments(is_number: np.ndarray) -> np.ndarray:
    """Return the moments of columns before the first row.

    [moment, column]: whether it is standardised, how many numbers came, their mean, and the sum of
    their squared distances from it (Welford 1962).
    """
    moments = np.zeros((4, is_number.size))
    moments[_STANDARDISED] = is_number
    return moments


NO_MOMENTS: Final = (no_moments(np.empty(0)), no_moments(np.empty(0)))  # where nothing is known


@kernel
def standardised(moments: np.ndarray, values: np.ndarray, learned: bool) -> np.ndarray:
    """Return rows, written one after the other, less the mean and over the spread of each column.

    If they are `learned`, each is counted before. A column that has no spread is 0; so is a number
    that is missing (NaN), as if it were the mean. Columns that are not standardised stay as they
    are. One value far away, a slip of a unit or of a finger, must not spoil a column permanently:
    values are moved to within `FAR` spreads.
    """
    width = moments.shape[1]
    result = np.empty(values.size)
    for first in range(0, values.size, width):
        for j in range(width):
            value = values[first + j]
            if np.isnan(value):
                result[first + j] = 0.0
            elif moments[_STANDARDISED, j] == 0.0:
                result[first + j] = value
            else:
                if learned:
                    count(moments, j, value)
                result[first + j] = distance(moments, j, value)
    return result


@inline_kernel
def distance(moments: np.ndarray, j: int, value: float) -> float:
    """Return how far a value of a column is from its mean, in spreads, `FAR` at most."""
    spread = _spread(moments, j)
    far = (value - moments[_MEAN, j]) / spread if spread > 0.0 else 0.0
    return min(max(far, -FAR), FAR)


@inline_kernel
def count(moments: np.ndarray, j: int, value: float) -> None:
    """Update a column's moments with a value."""
    off, far = value - moments[_MEAN, j], FAR * _spread(moments, j)
    if far > 0.0:
        off = min(max(off, -far), far)
    moments[_COUNT, j] += 1.0
    step = off / moments[_COUNT, j]
    moments[_MEAN, j] += step
    moments[_SQUARES, j] += off * (off - step)


@inline_kernel
def _spread(moments: np.ndarray, j: int) -> float:
    """Return the standard deviation of a column, 0 before there are two different numbers."""
    return math.sqrt(moments[_SQUARES, j] / max(moments[_COUNT, j], 1.0))


# -- rows of any form --------------------------------------------------------------------------


@dispatched
def seen(row: Any, moments: np.ndarray, learned: bool) -> Any:
    """Return a row, or several, as a policy sees them: standardised, unless they are sparse."""
    raise TypeError("replaced by dispatch")


def _seen_dense(row: np.ndarray, moments: np.ndarray, learned: bool) -> np.ndarray:
    if row.size == 0 or moments.shape[1] == 0:  # no moments: rows that are what a policy sees
        return row
    return standardised(moments, row.ravel(), learned).reshape(row.shape)


def _seen_sparse(row: Any, moments: np.ndarray, learned: bool) -> Any:
    return row  # standardised in the table that holds its weights, `giro.kernels.hashed`


bind(seen, np.ndarray, _seen_dense)
bind(seen, SparseRow, _seen_sparse)
bind(seen, SparseRows, _seen_sparse)
