"""Decision trees that grow where they are asked.

A tree is fitted to a bootstrap sample and asked at one context, often only once. So a fit notes the
sample, and a node is split when a context first comes to it. Answers are those of the whole tree,
at the cost of one path through it.
"""

from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.regression.linear_algebra import assign
from giro.kernels.tree.bins import Bins
from giro.kernels.tree.split import SQUARES, TOTAL, WEIGHT, best_split

_UNGROWN, _LEAF = -1, -2  # instead of the number of a child
_PURE = 2.0**-52  # a variance that is only rounding


class Trees(NamedTuple):
    """One tree a slot. A node owns a stretch of its slot's rows; its children halve it."""

    rows: np.ndarray  # [slot, i] numbers of the rows in the sample
    mass: np.ndarray  # [slot, i, column] see `tree.split`
    begin: np.ndarray  # [slot, node] the stretch
    end: np.ndarray  # [slot, node]
    child: np.ndarray  # [slot, node] the left one, the right one is next to it
    feature: np.ndarray  # [slot, node]
    threshold: np.ndarray  # [slot, node]
    nodes: np.ndarray  # [slot] how many there are


class Limits(NamedTuple):
    """When to stop splitting."""

    depth: int  # most splits on a path
    leaf: float  # least weight of a leaf


def empty_trees(slots: int, capacity: int) -> Trees:
    """Return trees of no rows. Memory is taken as it fills."""
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


@kernel
def plant(trees: Trees, slot: int, positions: np.ndarray, mass: np.ndarray) -> None:
    """Make the slot's tree a root of all rows that have weight."""
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
    """Return the weight and the sum of rewards in the leaf of a context, growing as far as needed.

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
    """Bring the rows of the left side to the front; return how many they are."""
    front = 0
    for i in range(rows.size):
        if bins.high[feature, bins.of_row[rows[i], feature]] <= threshold:
            rows[i], rows[front] = rows[front], rows[i]
            for k in range(3):
                mass[i, k], mass[front, k] = mass[front, k], mass[i, k]
            front += 1
    return front
