"""Extra trees: the mean of trees with random splits (Geurts et al., 2006)."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import at_least, check, whole
from giro.compiling import kernel
from giro.kernels.giro.pseudo_rewards import ONE, REAL, ZERO
from giro.kernels.tree.grow import SQUARES, TOTAL, WEIGHT, Bins, empty_bins, take_in
from giro.kernels.tree.random_trees import (
    Pool,
    TreeWorkspace,
    empty_pool,
    empty_tree_workspace,
    grow_tree,
    leaf_of,
)
from giro.model import Model, Sample
from giro.offer import Context

_UNKNOWN = 0.5  # the middle of the rewards


class _State(NamedTuple):
    pool: Pool
    bins: Bins  # of all rows
    due: np.ndarray  # [slot, tree] number of rows at which it is grown again
    workspace: TreeWorkspace
    leaf: float
    growth: float


@kernel
def _partial_fit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Add the last row to its leaf in each tree, and grow those trees again that are due."""
    n = sample.positions.size
    context = sample.rows.contexts[sample.positions[n - 1]]
    take_in(state.bins, sample.rows.contexts, sample.rows.filled[0])
    _weigh(state, sample, n - 1)
    weighed = False
    for number in range(state.due.shape[1]):
        tree = slot * state.due.shape[1] + number
        if n >= state.due[slot, number]:
            if not weighed:
                for i in range(n - 1):
                    _weigh(state, sample, i)
                weighed = True
            _grow(state, tree, sample, rng)
            longer = 1.0 + 2.0 * (state.growth - 1.0) * rng.random()  # not all trees at once
            state.due[slot, number] = max(n + 1, int(n * longer))
        else:
            leaf = leaf_of(state.pool, tree, context)
            mass = state.workspace.mass[sample.positions[n - 1]]
            state.pool.mass[leaf, 0] += mass[WEIGHT]
            state.pool.mass[leaf, 1] += mass[TOTAL]


@kernel
def _refit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Grow all trees again."""
    take_in(state.bins, sample.rows.contexts, sample.rows.filled[0])
    for i in range(sample.positions.size):
        _weigh(state, sample, i)
    trees = state.due.shape[1]
    for tree in range(slot * trees, (slot + 1) * trees):
        _grow(state, tree, sample, rng)


@kernel
def _grow(state: _State, tree: int, sample: Sample, rng: np.random.Generator) -> None:
    grow_tree(state.pool, tree, state.bins, sample.positions, state.workspace, state.leaf, rng)


@kernel
def _weigh(state: _State, sample: Sample, i: int) -> None:
    """Record the mass of the sample's i-th row."""
    counts, row = sample.counts, sample.positions[i]
    reward, mass = sample.rows.rewards[row], state.workspace.mass[row]
    mass[WEIGHT] = counts[i, REAL] + counts[i, ONE] + counts[i, ZERO]
    mass[TOTAL] = counts[i, REAL] * reward + counts[i, ONE]
    mass[SQUARES] = counts[i, REAL] * reward * reward + counts[i, ONE]


@kernel
def _value(state: _State, slot: int, context: Context) -> float:
    trees, total = state.due.shape[1], 0.0
    for tree in range(slot * trees, (slot + 1) * trees):
        leaf = leaf_of(state.pool, tree, context)
        weight = np.float64(state.pool.mass[leaf, 0])  # float() would keep single precision
        rewards = np.float64(state.pool.mass[leaf, 1])
        total += rewards / weight if weight > 0.0 else _UNKNOWN
    return float(total / trees)


@dataclass(frozen=True)
class ExtraTrees(Model, name="extra-trees"):
    """The mean of `trees` trees, each split at the best of a few thresholds drawn at random.

    A node draws `candidates` thresholds for every feature and takes the split that leaves the least
    variance, unless a part would hold fewer than `leaf` draws. Trees are grown on the whole sample.
    A new row is added to the leaf in which it falls in each tree. A tree is grown again when its
    rows have grown by a factor drawn around `growth`. So trees take turns, and the cost of a reward
    grows no faster than the logarithm. Differs from the paper: thresholds are drawn uniformly from
    a feature's bins, at most 255 (see `tree`), and not from its range.
    """

    source = "Geurts, Ernst and Wehenkel 2006"
    fitting = "history"
    refit = staticmethod(_refit)
    partial_fit = staticmethod(_partial_fit)
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
        return _State(
            empty_pool(slots * self.trees, capacity),
            empty_bins(n_features, capacity),
            np.zeros((slots, self.trees), np.int64),
            empty_tree_workspace(n_features, capacity, self.candidates),
            float(self.leaf),
            float(self.growth),
        )
