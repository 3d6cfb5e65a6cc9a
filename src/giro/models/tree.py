"""Tree: a decision tree for an arm's rewards (Breiman et al., 1984)."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from giro.checks import Count, optional, whole
from giro.compiling import kernel
from giro.kernels.giro.pseudo_rewards import ONE, REAL, ZERO
from giro.kernels.tree.grow import (
    SQUARES,
    TOTAL,
    WEIGHT,
    Bins,
    Limits,
    Trees,
    empty_bins,
    empty_histogram,
    empty_trees,
    leaf_mass,
    plant,
    take_in,
)
from giro.model import Model, Sample, faded_counts, recent
from giro.offer import Context

_NO_LIMIT = 2**62  # more splits than any tree has
_UNKNOWN = 0.5  # the middle of the rewards


class State(NamedTuple):
    """Trees of all slots, with shared bins and workspaces."""

    trees: Trees
    bins: Bins  # of all rows
    mass: np.ndarray  # [i, column] workspace for the mass of a sample's rows
    histogram: np.ndarray  # workspace for the histograms of one node
    limits: Limits


@kernel
def refit(state: State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Record the sample. The tree grows when it predicts."""
    sample = recent(sample)
    rows, positions, counts = sample.rows, sample.positions, faded_counts(sample)
    take_in(state.bins, rows.contexts, rows.filled[0])
    mass = state.mass[: positions.size]
    for i in range(positions.size):
        reward = rows.rewards[positions[i]]
        mass[i, WEIGHT] = counts[i, REAL] + counts[i, ONE] + counts[i, ZERO]
        mass[i, TOTAL] = counts[i, REAL] * reward + counts[i, ONE]
        mass[i, SQUARES] = counts[i, REAL] * reward * reward + counts[i, ONE]
    plant(state.trees, slot, positions, mass)


@kernel
def leaf(state: State, slot: int, context: Context) -> tuple[float, float]:
    """Return the weight and the sum of rewards in the leaf of a context."""
    return leaf_mass(state.trees, slot, state.bins, context, state.limits, state.histogram)


@kernel
def _value(state: State, slot: int, context: Context) -> float:
    weight, total = leaf(state, slot, context)
    return total / weight if weight > 0.0 else _UNKNOWN


@dataclass(frozen=True)
class Tree(Model, name="tree"):
    """A decision tree, split where that leaves the least variance of rewards in the two parts.

    For rewards 0 and 1 this is Gini's index. A node is split unless its rewards are equal, no
    feature tells its rows apart, `depth` splits were made above it, or a part would hold fewer than
    `leaf` draws. The prediction of a leaf is its mean reward. Splits are exact for features with up
    to 255 different values. Otherwise values are divided among 255 bins. All samples must be of the
    same rows.
    """

    source = "Breiman et al. 1984"
    refits_from_scratch = True
    refit = staticmethod(refit)
    value = staticmethod(_value)

    depth: Annotated[int | None, optional(whole(1))] = None
    leaf: Count = 1

    def start(self, slots: int, n_features: int, capacity: int, rng: np.random.Generator) -> State:
        """Return trees without rows, which predict 1/2."""
        return State(
            empty_trees(slots, capacity),
            empty_bins(n_features, capacity),
            np.empty((capacity, 3)),
            empty_histogram(n_features),
            Limits(_NO_LIMIT if self.depth is None else self.depth, float(self.leaf)),
        )
