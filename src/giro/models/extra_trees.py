"""Extra trees: the mean of trees with random splits (Geurts et al., 2006)."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import at_least, check, whole
from giro.compiling import kernel
from giro.kernels.giro.pseudo_rewards import ONE, REAL, ZERO
from giro.kernels.tree.grow import Bins, empty_bins, take_in
from giro.kernels.tree.random_trees import (
    TREE,
    Growth,
    Pool,
    begin_tree,
    empty_pool,
    grow_on,
    leaf_of,
    no_growth,
)
from giro.model import MOST_ROWS, Model, Sample
from giro.offer import Context

_UNKNOWN = 0.5  # the middle of the rewards
_EFFORT = 400_000  # entries of rows that one reward looks at to grow trees, more or less
_CAUGHT_UP = 512  # rows that one reward puts into bins
_WHOLE = 2**62  # the effort for whole trees
_MOST_FULL = 32  # replicas of all rows that there is room for


class _State(NamedTuple):
    pool: Pool
    bins: Bins  # of all rows
    due: np.ndarray  # [slot, tree] number of rows at which it is grown again
    behind: np.ndarray  # [1] rows that are not in bins yet
    growing: np.ndarray  # [1] number of rows of the slot whose tree is being grown
    growth: Growth
    leaf: float
    longer: float  # mean growth of rows from one growth of a tree to the next


@kernel
def _partial_fit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Add the last row to its leaf in each tree, and go on growing trees that are due."""
    _catch_up(state, sample)
    _add_to_leaves(state, slot, sample)
    effort = _EFFORT // _varying(state.bins)
    while True:
        if state.growth.at[TREE] < 0 and not _begin_due(state, slot, sample):
            break
        if effort <= 0:
            break
        tree = state.growth.at[TREE]
        effort = grow_on(state.pool, state.growth, state.leaf, effort, rng)
        if state.growth.at[TREE] < 0:
            _put_off(state, tree, rng)


@kernel
def _catch_up(state: _State, sample: Sample) -> None:
    """Put new rows into bins, many at most where fits were skipped."""
    rows = sample.rows.filled[0]
    take_in(state.bins, sample.rows.contexts, min(rows, state.bins.taken[0] + _CAUGHT_UP))
    state.behind[0] = rows - state.bins.taken[0]


@kernel
def _varying(bins: Bins) -> int:
    """Return the number of features that tell rows apart, at least 1."""
    count = 0
    for j in range(bins.used.size):
        count += bins.used[j] > 1
    return max(count, 1)


@kernel
def _begin_due(state: _State, slot: int, sample: Sample) -> bool:
    """Begin to grow a tree of the slot that is due, and return whether there is one."""
    n, trees = sample.positions.size, state.due.shape[1]
    if state.behind[0] > 0 or sample.dropped > 0:
        return False
    for number in range(trees):
        if n >= state.due[slot, number]:
            _begin(state, slot * trees + number, sample)
            state.growing[0] = n
            return True
    return False


@kernel
def _put_off(state: _State, tree: int, rng: np.random.Generator) -> None:
    """Set when a tree is due that has just been grown."""
    n, trees = state.growing[0], state.due.shape[1]
    longer = 1.0 + 2.0 * (state.longer - 1.0) * rng.random()  # not all trees at once
    state.due[tree // trees, tree % trees] = max(n + 1, int(n * longer))


@kernel
def _add_to_leaves(state: _State, slot: int, sample: Sample) -> None:
    """Add the last row to its leaf in each tree of the slot."""
    i, trees = sample.positions.size - 1, state.due.shape[1]
    row, counts = sample.positions[i], sample.counts
    weight = counts[i, REAL] + counts[i, ONE] + counts[i, ZERO]
    total = counts[i, REAL] * sample.rows.rewards[row] + counts[i, ONE]
    for tree in range(slot * trees, (slot + 1) * trees):
        if state.pool.root[tree] >= 0:
            leaf = leaf_of(state.pool, tree, sample.rows.contexts[row])
            state.pool.mass[leaf, 0] += weight
            state.pool.mass[leaf, 1] += total


@kernel
def _refit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Grow all trees again."""
    take_in(state.bins, sample.rows.contexts, sample.rows.filled[0])
    trees = state.due.shape[1]
    for tree in range(slot * trees, (slot + 1) * trees):
        _begin(state, tree, sample)
        grow_on(state.pool, state.growth, state.leaf, _WHOLE, rng)


@kernel
def _begin(state: _State, tree: int, sample: Sample) -> None:
    positions, counts, rewards = sample.positions, sample.counts, sample.rows.rewards
    begin_tree(state.pool, state.growth, tree, state.bins, positions, counts, rewards)


@kernel
def _unfinished(state: _State) -> bool:
    return bool(state.growth.at[TREE] >= 0 or state.behind[0] > 0)


@kernel
def _value(state: _State, slot: int, context: Context) -> float:
    trees, total = state.due.shape[1], 0.0
    for tree in range(slot * trees, (slot + 1) * trees):
        expected = _UNKNOWN
        if state.pool.root[tree] >= 0:
            leaf = leaf_of(state.pool, tree, context)
            weight = np.float64(state.pool.mass[leaf, 0])  # float() would keep single precision
            if weight > 0.0:
                expected = np.float64(state.pool.mass[leaf, 1]) / weight
        total += expected
    return float(total / trees)


@dataclass(frozen=True)
class ExtraTrees(Model, name="extra-trees"):
    """The mean of `trees` trees, each split at the best of a few thresholds drawn at random.

    A node draws `candidates` thresholds for every feature and takes the split that leaves the least
    variance, unless a part would hold fewer than `leaf` draws. A new row is added to the leaf in
    which it falls in each tree. A tree is grown again, on all rows, when these have grown by a
    factor drawn around `growth`. So trees take turns, and the cost of a reward grows no faster than
    the logarithm. Growing a large tree is spread over the rewards that follow, of all arms, and
    the old tree answers and takes in rows until the new one is complete.

    Trees of an arm with 16,384 rows (`giro.model.MOST_ROWS`) are not grown again: their leaves go
    on averaging all rewards. So memory is bounded, too. A refit to more rows takes so many of them,
    in equal distances. Differs from the paper: thresholds are drawn uniformly from a feature's
    bins, at most 255 (see `tree`), and not from its range.
    """

    source = "Geurts, Ernst and Wehenkel 2006"
    fitting = "history"
    most_rows = MOST_ROWS
    refit = staticmethod(_refit)
    partial_fit = staticmethod(_partial_fit)
    unfinished = staticmethod(_unfinished)
    value = staticmethod(_value)

    trees: int = field(default=20, kw_only=True)
    candidates: int = field(default=2, kw_only=True)
    leaf: int = field(default=1, kw_only=True)
    growth: float = field(default=1.3, kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        check(self.name, whole(1), trees=self.trees, candidates=self.candidates, leaf=self.leaf)
        check(self.name, at_least(1.0), growth=self.growth)

    def start(self, slots: int, n_features: int, capacity: int, rng: np.random.Generator) -> _State:
        """Return trees without rows, which predict 1/2."""
        most, trees = min(capacity, self.most_rows), slots * self.trees
        pairs = self.trees * min(slots * most, _MOST_FULL * capacity) + trees + most
        return _State(
            empty_pool(trees, pairs),
            empty_bins(n_features, capacity),
            np.zeros((slots, self.trees), np.int64),
            np.zeros(1, np.int64),
            np.zeros(1, np.int64),
            no_growth(n_features, most, self.candidates),
            float(self.leaf),
            float(self.growth),
        )
