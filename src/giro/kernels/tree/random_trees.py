"""Trees of random splits, grown completely, one after the other, in a pool of nodes.

A tree's nodes lie together. When a tree is grown again, its nodes are written behind all others.
The space of old trees is reclaimed when the pool is full.
"""

from typing import NamedTuple

import numpy as np

from giro.compiling import borrowed, kernel
from giro.kernels.tree.grow import BETTER, SQUARES, TOTAL, WEIGHT, Bins

_LEAF = -1  # instead of a child
_PURE = 2.0**-40  # a variance that is only rounding
_NODES = 2  # of a tree, at most, for each of its rows
_DIGITS = 4  # candidates from one random number: each takes 8 of its 53 bits
_SPARE = 1024  # nodes that old trees may always leave behind


class Pool(NamedTuple):
    """Nodes of all trees. A row goes right if its feature is above the threshold."""

    root: np.ndarray  # [tree] the first node
    size: np.ndarray  # [tree] number of nodes
    child: np.ndarray  # [node] the left one, the right one is next to it
    feature: np.ndarray  # [node]
    threshold: np.ndarray  # [node]
    mass: np.ndarray  # [node, 2] weight and sum of rewards
    used: np.ndarray  # [1] nodes so far

    def trimmed(self) -> "Pool":
        """Return the part in use."""
        n = int(self.used[0])
        return self._replace(
            child=self.child[:n],
            feature=self.feature[:n],
            threshold=self.threshold[:n],
            mass=self.mass[:n],
        )


class TreeWorkspace(NamedTuple):
    """Workspace for growing one tree."""

    rows: np.ndarray  # [i] numbers of the rows, those of a node together
    mass: np.ndarray  # [row, column] see `WEIGHT`
    begin: np.ndarray  # [i] stack of nodes to be split
    end: np.ndarray
    node: np.ndarray
    low: np.ndarray  # [feature] lowest bin of the node's rows
    high: np.ndarray  # [feature]
    bounds: np.ndarray  # [candidate, feature] last bin on the left
    weights: np.ndarray  # [candidate, feature] of the left side
    totals: np.ndarray  # [candidate, feature]


def empty_pool(trees: int, capacity: int) -> Pool:
    """Return empty trees with room for `capacity` rows each. Memory is used as it fills."""
    live = _NODES * (trees * capacity + trees)
    nodes = live + live // 2 + _NODES * capacity + _SPARE  # see `grow_tree`
    pool = Pool(
        np.arange(trees),
        np.ones(trees, np.int64),
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int32),
        np.empty(nodes),
        np.empty((nodes, 2), np.float32),
        np.array([trees]),
    )
    pool.child[:trees] = _LEAF
    pool.mass[:trees] = 0.0
    return pool


def empty_tree_workspace(n_features: int, capacity: int, candidates: int) -> TreeWorkspace:
    """Return a workspace for trees of up to `capacity` rows."""
    return TreeWorkspace(
        np.empty(capacity, np.int32),
        np.empty((capacity, 3)),
        np.empty(capacity + 1, np.int32),
        np.empty(capacity + 1, np.int32),
        np.empty(capacity + 1, np.int32),
        np.empty(n_features, np.uint8),
        np.empty(n_features, np.uint8),
        np.empty((candidates, n_features), np.uint8),
        np.empty((candidates, n_features), np.float32),
        np.empty((candidates, n_features), np.float32),
    )


@kernel
def leaf_of(pool: Pool, tree: int, context: np.ndarray) -> int:
    """Return the leaf that a context reaches."""
    node = pool.root[tree]
    while pool.child[node] != _LEAF:
        goes_right = context[pool.feature[node]] > pool.threshold[node]
        node = pool.child[node] + (1 if goes_right else 0)
    return int(node)


@kernel
def grow_tree(
    pool: Pool,
    tree: int,
    bins: Bins,
    positions: np.ndarray,
    workspace: TreeWorkspace,
    least: float,
    rng: np.random.Generator,
) -> None:
    """Grow a tree again on these rows, whose masses are in the workspace."""
    n = 0
    for i in range(positions.size):
        if workspace.mass[positions[i], WEIGHT] > 0.0:
            workspace.rows[n] = positions[i]
            n += 1
    live = pool.size.sum()
    if pool.used[0] > live + live // 2 + _SPARE:  # a third of the nodes belongs to no tree
        _take_back(pool)
    pool.root[tree] = pool.used[0]
    stack = 1
    _push(workspace, 0, _add_node(pool), 0, n)
    while stack > 0:
        stack -= 1
        node, begin, end = workspace.node[stack], workspace.begin[stack], workspace.end[stack]
        middle = _split(pool, node, bins, begin, end, workspace, least, rng)
        if middle > begin:
            left, right = _add_node(pool), _add_node(pool)
            pool.child[node] = left
            _push(workspace, stack, right, middle, end)
            _push(workspace, stack + 1, left, begin, middle)
            stack += 2
    pool.size[tree] = pool.used[0] - pool.root[tree]


@kernel
def _push(workspace: TreeWorkspace, at: int, node: int, begin: int, end: int) -> None:
    workspace.node[at], workspace.begin[at], workspace.end[at] = node, begin, end


@kernel
def _add_node(pool: Pool) -> int:
    node = int(pool.used[0])
    pool.child[node] = _LEAF
    pool.used[0] = node + 1
    return node


@kernel
def _take_back(pool: Pool) -> None:
    """Move all trees to the front of the pool."""
    n, used = pool.used[0], 0
    child, feature = pool.child[:n].copy(), pool.feature[:n].copy()
    threshold, mass = pool.threshold[:n].copy(), pool.mass[:n].copy()
    for tree in range(pool.root.size):
        first, size = pool.root[tree], pool.size[tree]
        for i in range(size):
            inner = child[first + i]
            pool.child[used + i] = inner if inner == _LEAF else inner - first + used
            pool.feature[used + i] = feature[first + i]
            pool.threshold[used + i] = threshold[first + i]
            pool.mass[used + i, 0] = mass[first + i, 0]
            pool.mass[used + i, 1] = mass[first + i, 1]
        pool.root[tree] = used
        used += size
    pool.used[0] = used


@kernel
def _split(
    pool: Pool,
    node: int,
    bins: Bins,
    begin: int,
    end: int,
    workspace: TreeWorkspace,
    least: float,
    rng: np.random.Generator,
) -> int:
    """Record the node's mass, divide its rows if it is split, and return the middle.

    It returns `begin` for a leaf.
    """
    rows, mass = workspace.rows[begin:end], workspace.mass
    weight, total, squares = 0.0, 0.0, 0.0
    for row in rows:
        weight += mass[row, WEIGHT]
        total += mass[row, TOTAL]
        squares += mass[row, SQUARES]
    pool.mass[node, 0], pool.mass[node, 1] = weight, total
    if weight < 2.0 * least or squares * weight - total * total <= _PURE * squares * weight:
        return begin
    _draw_bounds(bins, rows, workspace, rng)
    _weigh(bins, rows, workspace)
    candidate, feature = _best(workspace, weight, total, least)
    if feature < 0:
        return begin
    bound = workspace.bounds[candidate, feature]
    front, below, above = 0, -np.inf, np.inf
    for i in range(rows.size):
        b = bins.of_row[rows[i], feature]
        if b <= bound:
            below = max(below, bins.high[feature, b])
            rows[i], rows[front] = rows[front], rows[i]
            front += 1
        else:
            above = min(above, bins.low[feature, b])
    middle = below / 2 + above / 2
    pool.feature[node] = feature
    pool.threshold[node] = middle if below <= middle < above else below
    return begin + front


@kernel
def _draw_bounds(
    bins: Bins, rows: np.ndarray, workspace: TreeWorkspace, rng: np.random.Generator
) -> None:
    """Draw each feature's candidates uniformly from the bins below the highest of the rows."""
    low, high, rng = workspace.low, workspace.high, borrowed(rng)
    low[:] = 255
    high[:] = 0
    for row in rows:
        values = bins.of_row[row]
        for j in range(low.size):
            low[j] = min(low[j], values[j])
            high[j] = max(high[j], values[j])
    for j in range(low.size):
        span, place = float(high[j]) - float(low[j]), 0.0
        for candidate in range(workspace.bounds.shape[0]):
            if candidate % _DIGITS == 0 and span > 0.0:
                place = rng.random() * span
            workspace.bounds[candidate, j] = low[j] + int(place)
            place = (place - int(place)) * span  # the remaining digits


@kernel
def _weigh(bins: Bins, rows: np.ndarray, workspace: TreeWorkspace) -> None:
    """Sum the weights and rewards to the left of each candidate."""
    nothing = np.float32(0.0)
    for candidate in range(workspace.bounds.shape[0]):
        bounds = workspace.bounds[candidate]
        weights, totals = workspace.weights[candidate], workspace.totals[candidate]
        weights[:] = nothing
        totals[:] = nothing
        for row in rows:
            values = bins.of_row[row]
            w, z = np.float32(workspace.mass[row, WEIGHT]), np.float32(workspace.mass[row, TOTAL])
            for j in range(bounds.size):
                weights[j] += w if values[j] <= bounds[j] else nothing
                totals[j] += z if values[j] <= bounds[j] else nothing


@kernel
def _best(workspace: TreeWorkspace, weight: float, total: float, least: float) -> tuple[int, int]:
    """Return the candidate and feature that leave the least variance, or feature -1 if none."""
    best, feature, highest = 0, -1, 0.0
    for candidate in range(workspace.bounds.shape[0]):
        for j in range(workspace.low.size):
            if workspace.low[j] == workspace.high[j]:
                continue
            w = np.float64(workspace.weights[candidate, j])  # float() would keep single precision
            s = np.float64(workspace.totals[candidate, j])
            if w >= least and weight - w >= least:
                score = s * s / w + (total - s) * (total - s) / (weight - w)
                if score > highest * BETTER:
                    best, feature, highest = candidate, j, score
    return best, feature
