"""Trees of random splits: a plain twin's, the law of their candidates, and the pool of nodes."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from kernels.tree.plain_trees import Draws, Leaf, Node, grown, ranks_of, size_of
from laws import assert_follows

from giro.kernels.tree.grow import Bins, empty_bins, take_in
from giro.kernels.tree.random_trees import (
    Pool,
    TreeWorkspace,
    _draw_bounds,
    _take_back,
    empty_pool,
    empty_tree_workspace,
    grow_tree,
    leaf_of,
)
from giro.seeds import stream

D = 4


class Setting(NamedTuple):
    """Rows of which every other one is in the sample, and some were never drawn."""

    contexts: np.ndarray
    bins: Bins
    positions: np.ndarray
    mass: np.ndarray  # [row, column]
    draws: Draws  # for the twin


def setting(seed: int, n: int, *, values: int, fractions: bool = False) -> Setting:
    rng = stream(seed, n, values)
    contexts = np.column_stack([rng.integers(0, values, size=(n, D - 1)) / 7, np.ones(n)])
    contexts[:, 2] = contexts[:, 2] > 0.5 * contexts[:, 2].max()  # of two values
    chances = 0.2 + 0.6 * (contexts[:, 0] > contexts[:, 1])
    rewards = (rng.random(n) < chances).astype(float)
    if fractions:  # eighths, of which sums are exact in single precision
        rewards = np.clip(rewards + rng.integers(-4, 5, n) / 8, 0.0, 1.0)
    weights = rng.poisson(1.5, n).astype(float)
    mass = np.column_stack([weights, weights * rewards, weights * rewards**2])
    bins = empty_bins(D, n)
    take_in(bins, contexts, n)
    taken = np.arange(0, n, 2)
    drawn = taken[weights[taken] > 0]
    draws = Draws(contexts[drawn], ranks_of(contexts)[drawn], *mass[drawn].T)
    return Setting(contexts, bins, taken, mass, draws)


def workspace_for(given: Setting, candidates: int) -> TreeWorkspace:
    workspace = empty_tree_workspace(D, len(given.contexts), candidates)
    workspace.mass[:] = given.mass
    return workspace


def nodes_of(pool: Pool, node: int) -> Node | Leaf:
    """Return a tree as the twin writes it."""
    left = int(pool.child[node])
    if left < 0:
        return Leaf(*(float(x) for x in pool.mass[node]))
    children = (nodes_of(pool, left), nodes_of(pool, left + 1))
    return Node(int(pool.feature[node]), float(pool.threshold[node]), *children)


def approximate(tree: Node | Leaf) -> Any:
    """Return a tree to compare with: thresholds may differ in their last digit."""
    if isinstance(tree, Leaf):
        return tree
    return (tree.feature, round(tree.threshold, 9), approximate(tree.left), approximate(tree.right))


# -- growth ------------------------------------------------------------------------------------


@pytest.mark.parametrize("fractions", [False, True])
@pytest.mark.parametrize(("candidates", "leaf"), [(1, 1), (2, 1), (3, 4), (4, 1)])
def test_trees_are_those_of_a_plain_twin(
    candidates: int, leaf: int, fractions: bool, seed: int
) -> None:
    given = setting(seed, 150, values=30, fractions=fractions)
    pool, workspace = empty_pool(3, 150), workspace_for(given, candidates)
    ours, theirs = stream(seed, 1), stream(seed, 1)
    for tree in (0, 2, 1, 2):
        grow_tree(pool, tree, given.bins, given.positions, workspace, float(leaf), ours)
        twin = grown(given.draws, candidates, leaf, theirs)
        assert approximate(nodes_of(pool, pool.root[tree])) == approximate(twin)
        assert pool.size[tree] == size_of(twin)


@pytest.mark.parametrize("leaf", [1, 10])
def test_every_row_ends_in_the_leaf_that_counts_it(leaf: int, seed: int) -> None:
    given = setting(seed, 3000, values=10_000)  # more values than bins
    assert given.bins.shared[:2].all()
    pool, workspace = empty_pool(1, 3000), workspace_for(given, 2)
    grow_tree(pool, 0, given.bins, given.positions, workspace, float(leaf), stream(seed, 1))
    counted = np.zeros((int(pool.used[0]), 2))
    for row in given.positions:
        counted[leaf_of(pool, 0, given.contexts[row])] += given.mass[row, :2]
    leaves = np.flatnonzero(pool.child[: pool.used[0]] < 0)
    leaves = leaves[leaves >= pool.root[0]]
    np.testing.assert_allclose(pool.mass[leaves], counted[leaves], rtol=1e-6)
    assert counted[leaves].sum(axis=0) == pytest.approx(given.mass[given.positions, :2].sum(axis=0))
    assert counted[leaves, 0].min() >= leaf
    assert leaves.size > 50  # there is something to see
    if leaf == 1:  # grown whole: only equal rewards, or rows in the same bins, stay together
        at = np.array([leaf_of(pool, 0, given.contexts[row]) for row in drawn_rows(given)])
        for node in leaves[(counted[leaves, 1] % counted[leaves, 0]) > 0]:
            assert np.ptp(given.bins.of_row[drawn_rows(given)[at == node]], axis=0).max() == 0


def drawn_rows(given: Setting) -> np.ndarray:
    return given.positions[given.mass[given.positions, 0] > 0]


def test_what_cannot_be_split_is_a_leaf(seed: int) -> None:
    given = setting(seed, 40, values=5)
    pool, workspace = empty_pool(1, 40), workspace_for(given, 2)
    drawn = given.mass[given.positions].sum(axis=0)

    def size(least: float, positions: np.ndarray = given.positions) -> int:
        grow_tree(pool, 0, given.bins, positions, workspace, least, stream(seed, 1))
        return int(pool.size[0])

    assert size(1.0) > 1
    assert size(drawn[0] / 2 + 1) == 1  # too few draws for two sides
    assert pool.mass[pool.root[0]].tolist() == drawn[:2].tolist()
    assert size(1.0, given.positions[:0]) == 1  # no rows
    assert pool.mass[pool.root[0]].tolist() == [0.0, 0.0]
    workspace.mass[:, 1:] = 0.3 * workspace.mass[:, :1] * [1.0, 0.3]
    assert size(1.0) == 1  # equal rewards, of which sums are rounded


# -- candidates --------------------------------------------------------------------------------


@pytest.mark.parametrize("span", [1, 2, 7, 128, 254])
def test_candidates_are_uniform_below_the_highest_bin(span: int, seed: int) -> None:
    # Each of 8: of a single number of 53 bits the last would be 0
    d, low, candidates, rng = 4000, 255 - 1 - span, 8, stream(seed, span)
    bins, workspace = empty_bins(d, 3), empty_tree_workspace(d, 3, candidates)
    bins.of_row[0], bins.of_row[1], bins.of_row[2] = low, low + span, 0
    found = np.empty((10, candidates, d), np.int64)
    for several in found:
        _draw_bounds(bins, np.arange(2, dtype=np.int32), workspace, rng)  # without the third row
        several[:] = workspace.bounds
    assert (workspace.low == low).all() and (workspace.high == low + span).all()
    for candidate in range(candidates):
        assert_follows(found[:, candidate].ravel() - low, [1 / span] * span)
    if span == 7:  # and each pair of neighbours is independent
        for candidate in range(candidates - 1):
            pairs = 7 * (found[:, candidate] - low) + found[:, candidate + 1] - low
            assert_follows(pairs.ravel(), [1 / 49] * 49)


# -- the pool ----------------------------------------------------------------------------------


def test_taking_nodes_back_changes_no_tree(seed: int) -> None:
    given = setting(seed, 150, values=30)
    pool, workspace, rng = empty_pool(4, 150), workspace_for(given, 2), stream(seed, 1)
    for tree in (0, 3, 1, 0, 3):  # the third is never grown
        grow_tree(pool, tree, given.bins, given.positions, workspace, 1.0, rng)
    before = [nodes_of(pool, root) for root in pool.root]
    used = int(pool.used[0])
    _take_back(pool)
    assert [nodes_of(pool, root) for root in pool.root] == before
    assert pool.used[0] == pool.size.sum() < used
    again = pool.root.copy()
    _take_back(pool)
    assert pool.root.tolist() == again.tolist()


def test_nodes_of_older_trees_are_taken_back(seed: int) -> None:
    given = setting(seed, 150, values=30)
    pool, workspace, rng = empty_pool(2, 150), workspace_for(given, 2), stream(seed, 1)
    grown_so_far = 0
    for i in range(200):
        grow_tree(pool, i % 2, given.bins, given.positions, workspace, 1.0, rng)
        grown_so_far += pool.size[i % 2]
        assert pool.used[0] <= pool.child.size
        assert pool.used[0] <= 3 * 2 * 75 + 2 * 75 + 1024
    assert grown_so_far > 3 * pool.child.size
