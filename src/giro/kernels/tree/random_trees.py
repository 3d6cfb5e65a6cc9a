"""Trees of random splits, each grown completely, by and by if need be, in a pool of nodes.

Nodes come in pairs of siblings; a root has none. The pairs of a tree are a list, so that those of
an old tree are free at once when the new one is complete, and nothing is ever moved.
"""

from typing import NamedTuple

import numpy as np

from giro.compiling import borrowed, kernel
from giro.kernels.giro.pseudo_rewards import ONE, REAL, ZERO
from giro.kernels.regression.linear_algebra import assign
from giro.kernels.tree.grow import BETTER, MOST, SQUARES, TOTAL, WEIGHT, Bins

_NONE = -1  # instead of a child, a pair, a root or a tree
_PURE = 2.0**-40  # a variance that is only rounding
_DIGITS = 4  # candidates from one random number: each takes 8 of its 53 bits
_NODE_COST = 8  # rows that take as long as what a node costs whatever its rows

TREE, STACK, ROOT, LAST = range(4)  # places in `Growth.at`


class Pool(NamedTuple):
    """Nodes of all trees. A row goes right if its feature is above the threshold."""

    root: np.ndarray  # [tree] the first node, -1 for a tree not grown yet
    last: np.ndarray  # [tree] the last of its pairs
    next: np.ndarray  # [pair] the next one of the same tree, or of those that are free
    child: np.ndarray  # [node] the left one, the right one is next to it
    feature: np.ndarray  # [node]
    threshold: np.ndarray  # [node]
    mass: np.ndarray  # [node, 2] weight and sum of rewards
    used: np.ndarray  # [2] pairs so far, the first that is free again

    def trimmed(self) -> "Pool":
        """Return the part in use."""
        pairs = int(self.used[0])
        return self._replace(
            next=self.next[:pairs],
            child=self.child[: 2 * pairs],
            feature=self.feature[: 2 * pairs],
            threshold=self.threshold[: 2 * pairs],
            mass=self.mass[: 2 * pairs],
        )


class Growth(NamedTuple):
    """A tree that is being grown, with copies of all that it is grown on, and workspace."""

    at: np.ndarray  # [4] the tree or -1, nodes on the stack, its root, the last of its pairs
    size: np.ndarray  # [1] rows of it
    codes: np.ndarray  # [i, feature] bin of the i-th row
    mass: np.ndarray  # [i, column] see `WEIGHT`
    below: np.ndarray  # [feature, bin] lowest value in it
    above: np.ndarray  # [feature, bin] highest
    rows: np.ndarray  # [i] numbers of its rows, those of a node together
    begin: np.ndarray  # [i] stack of nodes to be split
    end: np.ndarray
    node: np.ndarray
    low: np.ndarray  # [feature] lowest bin of the node's rows
    high: np.ndarray  # [feature]
    bounds: np.ndarray  # [candidate, feature] last bin on the left
    weights: np.ndarray  # [candidate, feature] of the left side
    totals: np.ndarray  # [candidate, feature]

    def trimmed(self) -> "Growth":
        """Return the part in use."""
        n = int(self.size[0])
        stack = max(int(self.at[STACK]), 0)
        return self._replace(
            codes=self.codes[:n],
            mass=self.mass[:n],
            rows=self.rows[:n],
            begin=self.begin[:stack],
            end=self.end[:stack],
            node=self.node[:stack],
        )

    def widened(self, old: "Growth") -> None:
        """Fill in new columns, in which all rows so far are 0, of the first bin."""
        self.codes[: self.size[0], old.codes.shape[1] :] = 0


def empty_pool(trees: int, pairs: int) -> Pool:
    """Return trees not grown yet, with room for so many pairs. Memory is used as it fills."""
    return Pool(
        np.full(trees, _NONE),
        np.full(trees, _NONE),
        np.empty(pairs, np.int32),
        np.empty(2 * pairs, np.int32),
        np.empty(2 * pairs, np.int32),
        np.empty(2 * pairs),
        np.empty((2 * pairs, 2), np.float32),
        np.array([0, _NONE]),
    )


def no_growth(n_features: int, most: int, candidates: int) -> Growth:
    """Return room for a tree of up to `most` rows."""
    return Growth(
        np.array([_NONE, 0, _NONE, _NONE]),
        np.zeros(1, np.int64),
        np.empty((most, n_features), np.uint8),
        np.empty((most, 3)),
        np.zeros((n_features, MOST)),
        np.zeros((n_features, MOST)),
        np.empty(most, np.int32),
        np.empty(most + 1, np.int32),
        np.empty(most + 1, np.int32),
        np.empty(most + 1, np.int32),
        np.zeros(n_features, np.uint8),
        np.zeros(n_features, np.uint8),
        np.zeros((candidates, n_features), np.uint8),
        np.zeros((candidates, n_features), np.float32),
        np.zeros((candidates, n_features), np.float32),
    )


@kernel
def leaf_of(pool: Pool, tree: int, context: np.ndarray) -> int:
    """Return the leaf that a context reaches, in a tree that was grown."""
    node = pool.root[tree]
    while pool.child[node] != _NONE:
        goes_right = context[pool.feature[node]] > pool.threshold[node]
        node = pool.child[node] + (1 if goes_right else 0)
    return int(node)


@kernel
def begin_tree(
    pool: Pool,
    growth: Growth,
    tree: int,
    bins: Bins,
    positions: np.ndarray,
    counts: np.ndarray,
    rewards: np.ndarray,
) -> int:
    """Begin to grow a tree again on these rows, and return how many were looked at.

    If there are more than it has room for, it takes some in equal distances. A tree that was being
    grown is given up.
    """
    if growth.at[TREE] != _NONE:
        _free(pool, growth.at[ROOT], growth.at[LAST])
    taken, n = min(positions.size, growth.rows.size), 0
    for k in range(taken):
        i = k * positions.size // taken
        row = positions[i]
        weight = counts[i, REAL] + counts[i, ONE] + counts[i, ZERO]
        if weight > 0:
            growth.rows[n] = n
            assign(growth.codes[n], bins.of_row[row])
            growth.mass[n, WEIGHT] = weight
            growth.mass[n, TOTAL] = counts[i, REAL] * rewards[row] + counts[i, ONE]
            growth.mass[n, SQUARES] = counts[i, REAL] * rewards[row] * rewards[row] + counts[i, ONE]
            n += 1
    for j in range(bins.used.size):
        for b in range(bins.used[j]):
            growth.below[j, b], growth.above[j, b] = bins.low[j, b], bins.high[j, b]
    pair = _new_pair(pool)
    growth.size[0] = n
    growth.at[TREE], growth.at[STACK] = tree, 1
    growth.at[ROOT], growth.at[LAST] = 2 * pair, pair
    _push(growth, 0, 2 * pair, 0, n)
    return int(taken)


@kernel
def grow_on(pool: Pool, growth: Growth, least: float, effort: int, rng: np.random.Generator) -> int:
    """Split nodes until the tree is complete or the effort is spent, and return the effort left.

    The effort is in rows. The last node may take more than is left. A complete tree takes the place
    of the old one.
    """
    at = growth.at
    while at[STACK] > 0 and effort > 0:
        at[STACK] -= 1
        stack = at[STACK]
        node, begin, end = growth.node[stack], growth.begin[stack], growth.end[stack]
        effort -= int(end - begin) + _NODE_COST
        middle = _split(pool, node, begin, end, growth, least, rng)
        if middle > begin:
            pair = _new_pair(pool)
            pool.next[at[LAST]] = pair
            at[LAST] = pair
            pool.child[node] = 2 * pair
            _push(growth, stack, 2 * pair + 1, middle, end)
            _push(growth, stack + 1, 2 * pair, begin, middle)
            at[STACK] = stack + 2
    if at[STACK] == 0:
        tree = at[TREE]
        if pool.root[tree] != _NONE:
            _free(pool, pool.root[tree], pool.last[tree])
        pool.root[tree], pool.last[tree] = at[ROOT], at[LAST]
        at[TREE] = _NONE
        growth.size[0] = 0
    return effort


@kernel
def _push(growth: Growth, at: int, node: int, begin: int, end: int) -> None:
    growth.node[at], growth.begin[at], growth.end[at] = node, begin, end


@kernel
def _new_pair(pool: Pool) -> int:
    """Return a pair of leaves, the last of its list."""
    pair = int(pool.used[1])
    if pair != _NONE:
        pool.used[1] = pool.next[pair]
    else:
        pair = int(pool.used[0])
        pool.used[0] = pair + 1
    pool.next[pair] = _NONE
    for node in range(2 * pair, 2 * pair + 2):
        pool.child[node], pool.feature[node] = _NONE, 0
        pool.threshold[node] = pool.mass[node, 0] = pool.mass[node, 1] = 0.0
    return pair


@kernel
def _free(pool: Pool, root: int, last: int) -> None:
    """Put all pairs of a tree in front of those that are free."""
    pool.next[last] = pool.used[1]
    pool.used[1] = root // 2


@kernel
def _is_full(pool: Pool) -> bool:
    return bool(pool.used[1] == _NONE and pool.used[0] == pool.next.size)


@kernel
def _split(
    pool: Pool,
    node: int,
    begin: int,
    end: int,
    growth: Growth,
    least: float,
    rng: np.random.Generator,
) -> int:
    """Record the node's mass, divide its rows if it is split, and return the middle.

    It returns `begin` for a leaf.
    """
    rows, mass = growth.rows[begin:end], growth.mass
    weight, total, squares = 0.0, 0.0, 0.0
    for row in rows:
        weight += mass[row, WEIGHT]
        total += mass[row, TOTAL]
        squares += mass[row, SQUARES]
    pool.mass[node, 0], pool.mass[node, 1] = weight, total
    if weight < 2.0 * least or squares * weight - total * total <= _PURE * squares * weight:
        return begin
    if _is_full(pool):  # as may be with very many replicas
        return begin
    _draw_bounds(rows, growth, rng)
    _weigh(rows, growth)
    candidate, feature = _best(growth, weight, total, least)
    if feature < 0:
        return begin
    bound = growth.bounds[candidate, feature]
    front, below, above = 0, -np.inf, np.inf
    for i in range(rows.size):
        b = growth.codes[rows[i], feature]
        if b <= bound:
            below = max(below, growth.above[feature, b])
            rows[i], rows[front] = rows[front], rows[i]
            front += 1
        else:
            above = min(above, growth.below[feature, b])
    middle = below / 2 + above / 2
    pool.feature[node] = feature
    pool.threshold[node] = middle if below <= middle < above else below
    return begin + front


@kernel
def _draw_bounds(rows: np.ndarray, growth: Growth, rng: np.random.Generator) -> None:
    """Draw each feature's candidates uniformly from the bins below the highest of the rows."""
    low, high, rng = growth.low, growth.high, borrowed(rng)
    low[:] = 255
    high[:] = 0
    for row in rows:
        values = growth.codes[row]
        for j in range(low.size):
            low[j] = min(low[j], values[j])
            high[j] = max(high[j], values[j])
    for j in range(low.size):
        span, place = float(high[j]) - float(low[j]), 0.0
        for candidate in range(growth.bounds.shape[0]):
            if candidate % _DIGITS == 0 and span > 0.0:
                place = rng.random() * span
            growth.bounds[candidate, j] = low[j] + int(place)
            place = (place - int(place)) * span  # the remaining digits


@kernel
def _weigh(rows: np.ndarray, growth: Growth) -> None:
    """Sum the weights and rewards to the left of each candidate."""
    nothing = np.float32(0.0)
    for candidate in range(growth.bounds.shape[0]):
        bounds = growth.bounds[candidate]
        weights, totals = growth.weights[candidate], growth.totals[candidate]
        weights[:] = nothing
        totals[:] = nothing
        for row in rows:
            values = growth.codes[row]
            w, z = np.float32(growth.mass[row, WEIGHT]), np.float32(growth.mass[row, TOTAL])
            for j in range(bounds.size):
                weights[j] += w if values[j] <= bounds[j] else nothing
                totals[j] += z if values[j] <= bounds[j] else nothing


@kernel
def _best(growth: Growth, weight: float, total: float, least: float) -> tuple[int, int]:
    """Return the candidate and feature that leave the least variance, or feature -1 if none."""
    best, feature, highest = 0, -1, 0.0
    for candidate in range(growth.bounds.shape[0]):
        for j in range(growth.low.size):
            if growth.low[j] == growth.high[j]:
                continue
            w = np.float64(growth.weights[candidate, j])  # float() would keep single precision
            s = np.float64(growth.totals[candidate, j])
            if w >= least and weight - w >= least:
                score = s * s / w + (total - s) * (total - s) / (weight - w)
                if score > highest * BETTER:
                    best, feature, highest = candidate, j, score
    return best, feature
