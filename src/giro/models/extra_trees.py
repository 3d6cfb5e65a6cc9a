"""Extra trees: the mean of trees with random splits (Geurts et al., 2006)."""

from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import numpy as np

from giro.checks import Count, at_least
from giro.compiling import bind, dispatched, kernel
from giro.kernels.giro.pseudo_rewards import ONE, REAL, ZERO
from giro.kernels.memory import Everything, HalfLife, Window, left_since, now
from giro.kernels.tree.grow import Bins, empty_bins, put_again, take_in
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
from giro.model import MOST_ROWS, Model, Sample, faded_counts, recent, recent_rows
from giro.offer import Context

_UNKNOWN = 0.5  # the middle of the rewards
_EFFORT = 400_000  # entries of rows that one reward looks at to grow trees, more or less
_CAUGHT_UP = 512  # rows that one reward puts into bins
_WHOLE = 2**62  # the effort for whole trees
_LEAST_LEFT = 1e-6  # a new row counts at most a million times what older ones do
_MOST_FULL = 32  # replicas of all rows that there is room for


class _State(NamedTuple):
    pool: Pool
    bins: Bins  # of all rows
    due: np.ndarray  # [slot, tree] number of rows at which it is grown again
    behind: np.ndarray  # [1] rows that are not in bins yet
    growing: np.ndarray  # [3] of the tree being grown: rows so far, those that count, the time
    grown: np.ndarray  # [tree] the time at which its rows were taken
    binned: np.ndarray  # [row] the time after its last bins, where newer rows take its place
    growth: Growth
    leaf: float
    longer: float  # mean growth of rows from one growth of a tree to the next

    def trimmed(self) -> "_State":
        """Return the part in use."""
        return self._replace(binned=self.binned[: self.bins.taken[0]])


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
    n, trees = sample.positions.size + sample.dropped, state.due.shape[1]
    if state.behind[0] > 0 or not _sees_all_that_counts(sample.memory, sample):
        return False
    for number in range(trees):
        if n >= state.due[slot, number]:
            _begin(state, slot * trees + number, sample)
            state.growing[0], state.growing[1] = n, recent_rows(sample)
            state.growing[2] = now(sample.memory)
            return True
    return False


@dispatched
def _sees_all_that_counts(memory: Any, sample: Sample) -> bool:
    """Return whether the sample is that of all rows, or of the newest ones if others fade."""
    raise TypeError("replaced by dispatch")


def _none_dropped(memory: Everything, sample: Sample) -> bool:
    return sample.dropped == 0


def _newest_are_there(memory: Any, sample: Sample) -> bool:
    return True


bind(_sees_all_that_counts, Everything, _none_dropped)
bind(_sees_all_that_counts, HalfLife, _newest_are_there)
bind(_sees_all_that_counts, Window, _newest_are_there)


@kernel
def _put_off(state: _State, tree: int, rng: np.random.Generator) -> None:
    """Set when a tree is due that has just been grown."""
    n, counted, trees = state.growing[0], state.growing[1], state.due.shape[1]
    longer = 1.0 + 2.0 * (state.longer - 1.0) * rng.random()  # not all trees at once
    state.due[tree // trees, tree % trees] = n + max(1, int(counted * longer) - counted)
    state.grown[tree] = state.growing[2]


@kernel
def _add_to_leaves(state: _State, slot: int, sample: Sample) -> None:
    """Add the last row to its leaf in each tree of the slot.

    Where rows fade, it counts more instead, by what has faded since the tree was begun.
    """
    i, trees = sample.positions.size - 1, state.due.shape[1]
    row, counts = sample.positions[i], sample.counts
    weight = counts[i, REAL] + counts[i, ONE] + counts[i, ZERO]
    total = counts[i, REAL] * sample.rows.rewards[row] + counts[i, ONE]
    for tree in range(slot * trees, (slot + 1) * trees):
        if state.pool.root[tree] >= 0:
            leaf = leaf_of(state.pool, tree, sample.rows.contexts[row])
            worth = 1.0 / max(left_since(sample.memory, state.grown[tree]), _LEAST_LEFT)
            state.pool.mass[leaf, 0] += worth * weight
            state.pool.mass[leaf, 1] += worth * total


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
    sample = recent(sample)
    _bin_again(sample.memory, state, sample)
    positions, counts, rewards = sample.positions, faded_counts(sample), sample.rows.rewards
    begin_tree(state.pool, state.growth, tree, state.bins, positions, counts, rewards)


@dispatched
def _bin_again(memory: Any, state: _State, sample: Sample) -> None:
    """Find bins of rows that have taken the places of others."""
    raise TypeError("replaced by dispatch")


def _bins_stay(memory: Everything, state: _State, sample: Sample) -> None:
    pass


def _bin_newer(memory: Any, state: _State, sample: Sample) -> None:
    for i in range(sample.positions.size if sample.dropped > 0 else 0):
        row = sample.positions[i]
        if state.binned[row] <= memory.times[row]:
            put_again(state.bins, sample.rows.contexts, row)
            state.binned[row] = memory.times[row] + 1


bind(_bin_again, Everything, _bins_stay)
bind(_bin_again, HalfLife, _bin_newer)
bind(_bin_again, Window, _bin_newer)


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
    in equal distances. In a world that changes, trees are grown on the newest 16,384 rows, with
    their weights, when as many new ones have come as a growth of those that count.

    Differs from the paper: thresholds are drawn uniformly from a feature's bins, at most 255 (see
    `tree`), and not from its range.
    """

    source = "Geurts, Ernst and Wehenkel 2006"
    fitting = "history"
    most_rows = MOST_ROWS
    refit = staticmethod(_refit)
    partial_fit = staticmethod(_partial_fit)
    unfinished = staticmethod(_unfinished)
    value = staticmethod(_value)

    trees: Count = field(default=20, kw_only=True)
    candidates: Count = field(default=2, kw_only=True)
    leaf: Count = field(default=1, kw_only=True)
    growth: Annotated[float, at_least(1.0)] = field(default=1.3, kw_only=True)

    def start(self, slots: int, n_features: int, capacity: int, rng: np.random.Generator) -> _State:
        """Return trees without rows, which predict 1/2."""
        most, trees = min(capacity, self.most_rows), slots * self.trees
        pairs = self.trees * min(slots * most, _MOST_FULL * capacity) + trees + most
        return _State(
            empty_pool(trees, pairs),
            empty_bins(n_features, capacity),
            np.zeros((slots, self.trees), np.int64),
            np.zeros(1, np.int64),
            np.zeros(3, np.int64),
            np.zeros(trees, np.int64),
            np.zeros(capacity, np.int64),
            no_growth(n_features, most, self.candidates),
            float(self.leaf),
            float(self.growth),
        )
