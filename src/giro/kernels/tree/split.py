"""The best place to split the rows of a node in two."""

from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.tree.bins import MOST, Bins

BETTER = 1.0 + 1e-12  # by which factor; less is rounding
WEIGHT, TOTAL, SQUARES = 0, 1, 2  # columns of a row's mass: draws, and sums of rewards and squares


class Split(NamedTuple):
    """Rows with a value up to the threshold go left; feature -1 if rows cannot be told apart."""

    feature: int
    threshold: float


def empty_histogram(n_features: int) -> np.ndarray:
    """Return a workspace for the mass of every bin, [feature, bin, column]."""
    return np.empty((n_features, MOST, 2))


@kernel
def best_split(
    bins: Bins, rows: np.ndarray, mass: np.ndarray, least: float, histogram: np.ndarray
) -> Split:
    """Return the split that leaves least variance, with a weight of `least` on either side.

    Breiman et al. (1984): as Σ z² is the same for all splits, the variance left is least where
    S²/W, summed over both sides, is highest, W being a side's weight and S its sum of rewards. For
    rewards 0 and 1 that is the split by Gini's index, too. Of equal splits the first is taken. Not
    for nodes whose rewards are all 0.
    """
    _count(bins, rows, mass, histogram)
    feature, threshold, highest = -1, 0.0, 0.0
    for j in range(bins.used.size):
        if bins.used[j] > 1:
            left, right, score = _best_of_feature(histogram[j, : bins.used[j]], least)
            if score > highest * BETTER:
                feature, highest = j, score
                below, above = bins.high[j, left], bins.low[j, right]
                middle = below / 2 + above / 2
                threshold = middle if below <= middle < above else below  # never above
    return Split(feature, threshold)


@kernel
def _count(bins: Bins, rows: np.ndarray, mass: np.ndarray, histogram: np.ndarray) -> None:
    """Set histogram[j, b] to the mass of the rows in bin b of feature j."""
    for j in range(bins.used.size):
        histogram[j, : bins.used[j]] = 0.0
    for i in range(rows.size):
        row, w, z = rows[i], mass[i, WEIGHT], mass[i, TOTAL]
        for j in range(bins.used.size):
            b = bins.of_row[row, j]
            histogram[j, b, 0] += w
            histogram[j, b, 1] += z


@kernel
def _best_of_feature(histogram: np.ndarray, least: float) -> tuple[int, int, float]:
    """Return the bins left and right of the best threshold, and its score; 0 without one."""
    weight, total = 0.0, 0.0
    for b in range(histogram.shape[0]):
        weight += histogram[b, 0]
        total += histogram[b, 1]
    left, right, highest = 0, 0, 0.0
    w, s, last = 0.0, 0.0, -1  # of what is left of bin b, and the last bin there that is not empty
    for b in range(histogram.shape[0]):
        if histogram[b, 0] == 0.0:
            continue
        if last >= 0 and w >= least and weight - w >= least:
            score = s * s / w + (total - s) * (total - s) / (weight - w)
            if score > highest * BETTER:
                left, right, highest = last, b, score
        w += histogram[b, 0]
        s += histogram[b, 1]
        last = b
    return left, right, highest
