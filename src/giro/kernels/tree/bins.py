"""Contexts as numbers of bins, a byte each, so that trees find their splits by counting.

As long as a feature has had at most 255 different values, each has its own bin, and nothing is
lost. Then neighbours share a bin, of about as many rows each when bins are made again, at 256, 512,
1024, ... rows.
"""

from typing import NamedTuple

import numpy as np

from giro.compiling import kernel

MOST = 255
WEIGHT, TOTAL, SQUARES = 0, 1, 2  # columns of a row's mass: draws, and sums of rewards and squares
BETTER = 1.0 + 1e-12  # factor by which one split is better than another; less is rounding


class Bins(NamedTuple):
    """Which values are in which bin; bins of a feature are ascending."""

    of_row: np.ndarray  # [row, feature] number of the bin
    low: np.ndarray  # [feature, bin] smallest value in it
    high: np.ndarray  # [feature, bin] largest
    used: np.ndarray  # [feature] how many bins
    shared: np.ndarray  # [feature] whether some bin holds several values
    taken: np.ndarray  # [1] rows taken in


def empty_bins(n_features: int, capacity: int) -> Bins:
    """Return no bins, that can hold those of `capacity` rows."""
    return Bins(
        np.empty((capacity, n_features), np.uint8),
        np.empty((n_features, MOST)),
        np.empty((n_features, MOST)),
        np.zeros(n_features, np.int64),
        np.zeros(n_features, np.bool_),
        np.zeros(1, np.int64),
    )


@kernel
def take_in(bins: Bins, contexts: np.ndarray, count: int) -> None:
    """Take in the rows up to `count` that were not there the last time."""
    for row in range(bins.taken[0], count):
        for j in range(bins.used.size):
            bins.of_row[row, j] = _bin_for(bins, j, contexts[row, j], row)
        bins.taken[0] = row + 1
        if row >= MOST and (row & (row + 1)) == 0:
            _rebin(bins, contexts)


@kernel
def _bin_for(bins: Bins, j: int, value: float, rows: int) -> int:
    """Return the bin of a value, after making one for it among the first `rows` rows."""
    position = int(np.searchsorted(bins.high[j, : bins.used[j]], value))
    if position < bins.used[j] and bins.low[j, position] <= value:
        return position
    if bins.used[j] < MOST:
        _insert(bins, j, position, value, rows)
        return position
    bins.shared[j] = True
    if position == MOST:
        bins.high[j, MOST - 1] = value
        return MOST - 1
    bins.low[j, position] = value
    return position


@kernel
def _insert(bins: Bins, j: int, position: int, value: float, rows: int) -> None:
    """Put a bin for one value before the others from `position` on."""
    for b in range(bins.used[j], position, -1):
        bins.low[j, b] = bins.low[j, b - 1]
        bins.high[j, b] = bins.high[j, b - 1]
    bins.low[j, position] = value
    bins.high[j, position] = value
    if position < bins.used[j]:
        for row in range(rows):
            if bins.of_row[row, j] >= position:
                bins.of_row[row, j] += 1
    bins.used[j] += 1


@kernel
def _rebin(bins: Bins, contexts: np.ndarray) -> None:
    """Share the rows out evenly where bins hold several values."""
    for j in range(bins.used.size):
        if bins.shared[j]:
            _share_out(bins, j, np.sort(contexts[: bins.taken[0], j]))
            for row in range(bins.taken[0]):
                high = bins.high[j, : bins.used[j]]
                bins.of_row[row, j] = np.searchsorted(high, contexts[row, j])


@kernel
def _share_out(bins: Bins, j: int, ascending: np.ndarray) -> None:
    """Fill bins with values, equal ones together, until each has its share of the rest."""
    n, begin, b = ascending.size, 0, 0
    while begin < n:
        end = min(begin + max(1, (n - begin) // (MOST - b)), n) if b < MOST - 1 else n
        while end < n and ascending[end] == ascending[end - 1]:
            end += 1
        bins.low[j, b] = ascending[begin]
        bins.high[j, b] = ascending[end - 1]
        begin, b = end, b + 1
    bins.used[j] = b
