"""Decision trees on binned contexts that grow only along the paths of predictions.

Contexts are kept as bin numbers, one byte each, so that trees find their splits by counting. As
long as a feature has at most 255 different values, each has its own bin, and nothing is lost. After
that, neighbours share a bin. Bins are made again at 256, 512, ... 4096 rows, with about as many
rows each, for a few features with each row that follows.

A tree is fitted to a bootstrap sample and predicts for one context, often only once. So a fit only
records the sample, and a node is split when a context first reaches it. Predictions are those of
the whole tree, at the cost of one path through it.
"""

from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.regression.linear_algebra import assign

# -- bins ------------------------------------------------------------------------------------------

MOST = 255
_LAST_REBINNING = 4096  # rows
_REBINNED = 16_384  # values that are divided among bins with one row
WEIGHT, TOTAL, SQUARES = 0, 1, 2  # columns of a row's mass: draws, and sums of rewards and squares
BETTER = 1.0 + 1e-12  # least factor between the scores of two splits; less is rounding


class Bins(NamedTuple):
    """Bins of the values of each feature, in ascending order."""

    of_row: np.ndarray  # [row, feature] number of the bin
    low: np.ndarray  # [feature, bin] smallest value in it
    high: np.ndarray  # [feature, bin] largest
    used: np.ndarray  # [feature] number of bins
    shared: np.ndarray  # [feature] whether some bin holds several values
    taken: np.ndarray  # [2] rows added, features whose bins are still to be made again

    def trimmed(self) -> "Bins":
        """Return the part in use."""
        return self._replace(of_row=self.of_row[: self.taken[0]])

    def widened(self, old: "Bins") -> None:
        """Fill in new columns, in which all rows so far are 0."""
        if self.taken[0] > 0:
            new = slice(old.used.size, None)
            self.of_row[: self.taken[0], new] = 0
            self.low[new, 0] = self.high[new, 0] = 0.0
            self.used[new] = 1
            if self.taken[1] > 0:
                self.taken[1] += self.used.size - old.used.size


def empty_bins(n_features: int, capacity: int) -> Bins:
    """Return empty bins with room for `capacity` rows."""
    return Bins(
        np.empty((capacity, n_features), np.uint8),
        np.empty((n_features, MOST)),
        np.empty((n_features, MOST)),
        np.zeros(n_features, np.int64),
        np.zeros(n_features, np.bool_),
        np.zeros(2, np.int64),
    )


@kernel
def take_in(bins: Bins, contexts: np.ndarray, count: int) -> None:
    """Add the rows up to `count` that are new since the last call."""
    for row in range(bins.taken[0], count):
        for j in range(bins.used.size):
            bins.of_row[row, j] = _bin_for(bins, j, contexts[row, j], row)
        bins.taken[0] = row + 1
        if MOST <= row < _LAST_REBINNING and (row & (row + 1)) == 0:
            bins.taken[1] = bins.used.size
        if bins.taken[1] > 0:
            _rebin(bins, contexts)


@kernel
def put_again(bins: Bins, contexts: np.ndarray, row: int) -> None:
    """Find the bins of a row anew, because another one has taken its place."""
    for j in range(bins.used.size):
        bins.of_row[row, j] = _bin_for(bins, j, contexts[row, j], bins.taken[0])


@kernel
def _bin_for(bins: Bins, j: int, value: float, rows: int) -> int:
    """Return the bin of a value, and make one if needed among the first `rows` rows."""
    position = _first_from(bins.high[j, : bins.used[j]], value)
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
def _first_from(ascending: np.ndarray, value: float) -> int:
    """Return the place of the first number that is not below the value: NumPy's compiles longer."""
    low, high = 0, ascending.size
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _insert(bins: Bins, j: int, position: int, value: float, rows: int) -> None:
    """Insert a bin for one value at `position`."""
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
    """Divide the rows evenly among bins, for some features whose bins hold several values."""
    rows, effort = bins.taken[0], _REBINNED
    while bins.taken[1] > 0 and effort > 0:
        bins.taken[1] -= 1
        j = bins.used.size - 1 - bins.taken[1]
        if bins.shared[j]:
            effort -= rows
            _share_out(bins, j, _in_order(contexts[:rows, j]))
            for row in range(rows):
                high = bins.high[j, : bins.used[j]]
                bins.of_row[row, j] = _first_from(high, contexts[row, j])


@kernel
def _in_order(values: np.ndarray) -> np.ndarray:
    """Return the values in ascending order, merged: NumPy's sort compiles ten times as long."""
    n, width = values.size, 1
    source, target = values.copy(), np.empty(n)
    while width < n:
        for begin in range(0, n, 2 * width):
            middle, end = min(begin + width, n), min(begin + 2 * width, n)
            i, j = begin, middle
            for k in range(begin, end):
                if i < middle and (j == end or source[i] <= source[j]):
                    target[k] = source[i]
                    i += 1
                else:
                    target[k] = source[j]
                    j += 1
        source, target, width = target, source, 2 * width
    return source


@kernel
def _share_out(bins: Bins, j: int, ascending: np.ndarray) -> None:
    """Fill bins with values, equal ones together, until each has its share of the remainder."""
    n, begin, b = ascending.size, 0, 0
    while begin < n:
        end = min(begin + max(1, (n - begin) // (MOST - b)), n) if b < MOST - 1 else n
        while end < n and ascending[end] == ascending[end - 1]:
            end += 1
        bins.low[j, b] = ascending[begin]
        bins.high[j, b] = ascending[end - 1]
        begin, b = end, b + 1
    bins.used[j] = b


# -- trees -----------------------------------------------------------------------------------------

_UNGROWN, _LEAF = -1, -2  # instead of the number of a child
_PURE = 2.0**-52  # a variance that is only rounding


class Trees(NamedTuple):
    """One tree for each slot. A node owns a range of its slot's rows, which its children divide."""

    rows: np.ndarray  # [slot, i] numbers of the rows in the sample
    mass: np.ndarray  # [slot, i, column] see `WEIGHT`
    begin: np.ndarray  # [slot, node] of the range
    end: np.ndarray  # [slot, node]
    child: np.ndarray  # [slot, node] the left one, the right one is next to it
    feature: np.ndarray  # [slot, node]
    threshold: np.ndarray  # [slot, node]
    nodes: np.ndarray  # [slot] number of nodes


class Limits(NamedTuple):
    """Limits that end splitting."""

    depth: int  # most splits on a path
    leaf: float  # least weight of a leaf


class Split(NamedTuple):
    """Rows up to the threshold go left. Feature -1 means that rows cannot be separated."""

    feature: int
    threshold: float


def empty_trees(slots: int, capacity: int) -> Trees:
    """Return trees without rows. Memory is used as it fills."""
    nodes = (slots, 2 * capacity)
    trees = Trees(
        np.empty((slots, capacity), np.int32),
        np.empty((slots, capacity, 3)),
        np.zeros(nodes, np.int32),
        np.zeros(nodes, np.int32),
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int32),
        np.empty(nodes),
        np.ones(slots, np.int64),
    )
    trees.child[:, 0] = _LEAF
    return trees


def empty_histogram(n_features: int) -> np.ndarray:
    """Return a workspace for the mass of every bin, [feature, bin, column]."""
    return np.empty((n_features, MOST, 2))


@kernel
def plant(trees: Trees, slot: int, positions: np.ndarray, mass: np.ndarray) -> None:
    """Reset the slot's tree to a root that holds all rows with weight."""
    n = 0
    for i in range(positions.size):
        if mass[i, WEIGHT] > 0.0:
            trees.rows[slot, n] = positions[i]
            assign(trees.mass[slot, n], mass[i])
            n += 1
    trees.nodes[slot] = 0
    _add_node(trees, slot, 0, n)


@kernel
def leaf_mass(
    trees: Trees, slot: int, bins: Bins, context: np.ndarray, limits: Limits, workspace: np.ndarray
) -> tuple[float, float]:
    """Return the weight and the sum of rewards in the leaf of a context, growing as needed.

    `workspace` is for the histograms of one node.
    """
    node, depth = 0, 0
    while True:
        if trees.child[slot, node] == _UNGROWN:
            _grow(
                trees, slot, node, bins, limits.leaf if depth < limits.depth else np.inf, workspace
            )
        child = trees.child[slot, node]
        if child == _LEAF:
            weight, total, _ = _sums(trees, slot, node)
            return weight, total
        goes_right = context[trees.feature[slot, node]] > trees.threshold[slot, node]
        node, depth = child + (1 if goes_right else 0), depth + 1


@kernel
def _grow(
    trees: Trees, slot: int, node: int, bins: Bins, least: float, workspace: np.ndarray
) -> None:
    """Split the node, or make it a leaf if that is not possible or would not help."""
    begin, end = trees.begin[slot, node], trees.end[slot, node]
    trees.child[slot, node] = _LEAF
    weight, total, squares = _sums(trees, slot, node)
    mean = total / weight if weight > 0.0 else 0.0
    if weight < 2.0 * least or squares / weight - mean * mean <= _PURE:
        return
    rows, mass = trees.rows[slot, begin:end], trees.mass[slot, begin:end]
    split = best_split(bins, rows, mass, least, workspace)
    if split.feature >= 0:
        trees.child[slot, node] = trees.nodes[slot]
        trees.feature[slot, node], trees.threshold[slot, node] = split
        middle = begin + _parted(bins, rows, mass, split.feature, split.threshold)
        _add_node(trees, slot, begin, middle)
        _add_node(trees, slot, middle, end)


@kernel
def _add_node(trees: Trees, slot: int, begin: int, end: int) -> None:
    node = trees.nodes[slot]
    trees.begin[slot, node], trees.end[slot, node] = begin, end
    trees.child[slot, node] = _UNGROWN if end > begin else _LEAF
    trees.nodes[slot] = node + 1


@kernel
def _sums(trees: Trees, slot: int, node: int) -> tuple[float, float, float]:
    """Return weight, sum of rewards and sum of squares of a node."""
    weight, total, squares = 0.0, 0.0, 0.0
    for i in range(trees.begin[slot, node], trees.end[slot, node]):
        weight += trees.mass[slot, i, WEIGHT]
        total += trees.mass[slot, i, TOTAL]
        squares += trees.mass[slot, i, SQUARES]
    return weight, total, squares


@kernel
def _parted(bins: Bins, rows: np.ndarray, mass: np.ndarray, feature: int, threshold: float) -> int:
    """Move the rows of the left side to the front, and return their number."""
    front = 0
    for i in range(rows.size):
        if bins.high[feature, bins.of_row[rows[i], feature]] <= threshold:
            rows[i], rows[front] = rows[front], rows[i]
            for k in range(3):
                mass[i, k], mass[front, k] = mass[front, k], mass[i, k]
            front += 1
    return front


@kernel
def best_split(
    bins: Bins, rows: np.ndarray, mass: np.ndarray, least: float, histogram: np.ndarray
) -> Split:
    """Return the split that leaves the least variance, with at least `least` weight on each side.

    Breiman et al. (1984): as Σ z² is the same for all splits, the remaining variance is least where
    S²/W, summed over both sides, is highest, with W a side's weight and S its sum of rewards. For
    rewards 0 and 1 this is also the split by Gini's index. The first of equal splits is taken. Some
    reward of the node must not be 0.
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
    """Return the bins on both sides of the best threshold, and its score, 0 without one."""
    weight, total = 0.0, 0.0
    for b in range(histogram.shape[0]):
        weight += histogram[b, 0]
        total += histogram[b, 1]
    left, right, highest = 0, 0, 0.0
    w, s, last = 0.0, 0.0, -1  # sums to the left of bin b, and the last nonempty bin there
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
