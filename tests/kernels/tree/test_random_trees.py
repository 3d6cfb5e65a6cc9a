"""Trees of random splits: a plain twin's, the law of their candidates, and the pool of nodes."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from kernels.tree.plain_trees import Draws, Leaf, Node, grown, ranks_of, size_of
from laws import assert_follows

from giro.kernels.giro.pseudo_rewards import REAL
from giro.kernels.tree.grow import Bins, empty_bins, take_in
from giro.kernels.tree.random_trees import (
    TREE,
    Growth,
    Pool,
    _draw_bounds,
    begin_tree,
    empty_pool,
    grow_on,
    leaf_of,
    no_growth,
)
from giro.seeds import stream

D = 4
WHOLE = 2**62  # the effort for a whole tree


class Setting(NamedTuple):
    """Rows of which every other one is in the sample, and some were never drawn."""

    contexts: np.ndarray
    bins: Bins
    positions: np.ndarray
    counts: np.ndarray  # [position, kind]
    rewards: np.ndarray  # [row]
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
    weights = rng.poisson(1.5, n)
    mass = np.column_stack([weights, weights * rewards, weights * rewards**2])
    bins = empty_bins(D, n)
    take_in(bins, contexts, n)
    taken = np.arange(0, n, 2)
    drawn = taken[weights[taken] > 0]
    draws = Draws(contexts[drawn], ranks_of(contexts)[drawn], *mass[drawn].T)
    counts = np.zeros((taken.size, 3), np.int32)
    counts[:, REAL] = weights[taken]
    return Setting(contexts, bins, taken, counts, rewards, mass, draws)


def begun(pool: Pool, growth: Growth, tree: int, given: Setting) -> int:
    """Begin a tree on the rows of a setting; return how many were looked at."""
    rows = given.positions, given.counts, given.rewards
    return begin_tree(pool, growth, tree, given.bins, *rows)


def grow_whole(
    pool: Pool, growth: Growth, tree: int, given: Setting, least: float, rng: np.random.Generator
) -> None:
    begun(pool, growth, tree, given)
    grow_on(pool, growth, least, WHOLE, rng)


def size_in(pool: Pool, tree: int) -> int:
    """Return the number of nodes of a tree."""
    return size_of(nodes_of(pool, int(pool.root[tree])))


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
    pool, growth = empty_pool(3, 450), no_growth(D, 75, candidates)
    ours, theirs = stream(seed, 1), stream(seed, 1)
    for tree in (0, 2, 1, 2):
        grow_whole(pool, growth, tree, given, float(leaf), ours)
        twin = grown(given.draws, candidates, leaf, theirs)
        assert approximate(nodes_of(pool, pool.root[tree])) == approximate(twin)


@pytest.mark.parametrize("leaf", [1, 10])
def test_every_row_ends_in_the_leaf_that_counts_it(leaf: int, seed: int) -> None:
    given = setting(seed, 3000, values=10_000)  # more values than bins
    assert given.bins.shared[:2].all()
    pool, growth = empty_pool(1, 3000), no_growth(D, 3000, 2)
    grow_whole(pool, growth, 0, given, float(leaf), stream(seed, 1))
    counted = np.zeros((2 * int(pool.used[0]), 2))
    for row in given.positions:
        counted[leaf_of(pool, 0, given.contexts[row])] += given.mass[row, :2]
    leaves = np.flatnonzero(pool.child[: len(counted)] < 0)
    leaves = leaves[leaves != pool.root[0] + 1]  # a root has no sibling
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
    pool, growth = empty_pool(1, 40), no_growth(D, 40, 2)
    drawn = given.mass[given.positions].sum(axis=0)

    def size(least: float, rows: Setting = given) -> int:
        grow_whole(pool, growth, 0, rows, least, stream(seed, 1))
        return size_in(pool, 0)

    assert size(1.0) > 1
    assert size(drawn[0] / 2 + 1) == 1  # too few draws for two sides
    assert pool.mass[pool.root[0]].tolist() == drawn[:2].tolist()
    assert size(1.0, given._replace(positions=given.positions[:0])) == 1  # no rows
    assert pool.mass[pool.root[0]].tolist() == [0.0, 0.0]
    assert size(1.0, given._replace(rewards=np.full(40, 0.3))) == 1  # sums are rounded


def test_a_tree_grown_in_pieces_is_the_tree_grown_at_once(seed: int) -> None:
    given = setting(seed, 150, values=30)
    pool, growth = empty_pool(2, 300), no_growth(D, 75, 2)
    grow_whole(pool, growth, 0, given, 1.0, stream(seed, 1))
    grow_whole(pool, growth, 1, given, 1.0, stream(seed, 2))
    wanted, old = nodes_of(pool, pool.root[0]), nodes_of(pool, pool.root[1])
    begun(pool, growth, 1, given)
    rng, pieces = stream(seed, 1), 0
    while growth.at[TREE] >= 0:
        assert nodes_of(pool, pool.root[1]) == old  # answers meanwhile
        left = grow_on(pool, growth, 1.0, 20, rng)
        assert left > -(growth.codes.shape[0] + 8)  # one node more than the effort, at most
        pieces += 1
    assert pieces > 10
    assert nodes_of(pool, pool.root[1]) == wanted


def test_of_more_rows_than_there_is_room_for_some_are_taken_in_equal_distances(seed: int) -> None:
    given = setting(seed, 200, values=30)
    given.counts[:, REAL] = 1
    pool, growth = empty_pool(1, 10), no_growth(D, 10, 2)
    assert begun(pool, growth, 0, given) == 10
    assert growth.mass[:, 1].tolist() == given.rewards[given.positions[::10]].tolist()
    assert np.array_equal(growth.codes, given.bins.of_row[given.positions[::10]])


def test_growing_another_tree_gives_up_the_one_under_way(seed: int) -> None:
    given = setting(seed, 150, values=30)
    pool, growth = empty_pool(2, 150), no_growth(D, 75, 2)
    begun(pool, growth, 0, given)
    grow_on(pool, growth, 1.0, 100, stream(seed, 1))
    grow_whole(pool, growth, 1, given, 1.0, stream(seed, 2))
    assert pool.root[0] < 0 <= pool.root[1]
    assert 2 * pool.used[0] <= size_in(pool, 1) + 1 + 2 * 20  # its nodes were used again


# -- candidates --------------------------------------------------------------------------------


@pytest.mark.parametrize("span", [1, 2, 7, 128, 254])
def test_candidates_are_uniform_below_the_highest_bin(span: int, seed: int) -> None:
    # Each of 8: of a single number of 53 bits the last would be 0
    d, low, candidates, rng = 4000, 255 - 1 - span, 8, stream(seed, span)
    growth = no_growth(d, 3, candidates)
    growth.codes[0], growth.codes[1], growth.codes[2] = low, low + span, 0
    found = np.empty((10, candidates, d), np.int64)
    for several in found:
        _draw_bounds(np.arange(2, dtype=np.int32), growth, rng)  # without the third row
        several[:] = growth.bounds
    assert (growth.low == low).all() and (growth.high == low + span).all()
    for candidate in range(candidates):
        assert_follows(found[:, candidate].ravel() - low, [1 / span] * span)
    if span == 7:  # and each pair of neighbours is independent
        for candidate in range(candidates - 1):
            pairs = 7 * (found[:, candidate] - low) + found[:, candidate + 1] - low
            assert_follows(pairs.ravel(), [1 / 49] * 49)


# -- the pool ----------------------------------------------------------------------------------


def test_nodes_of_older_trees_are_used_again(seed: int) -> None:
    given = setting(seed, 150, values=30)
    pool, growth, rng = empty_pool(2, 225), no_growth(D, 75, 2), stream(seed, 1)
    sizes = []
    for i in range(100):
        grow_whole(pool, growth, i % 2, given, 1.0, rng)
        sizes.append((size_in(pool, i % 2) + 1) // 2)  # pairs
        assert pool.used[0] <= 3 * max(sizes)
    assert sum(sizes) > 10 * pool.used[0]


def test_a_full_pool_leaves_leaves(seed: int) -> None:
    given = setting(seed, 150, values=30)
    pool, growth = empty_pool(1, 5), no_growth(D, 75, 2)
    grow_whole(pool, growth, 0, given, 1.0, stream(seed, 1))
    assert pool.used[0] == 5 and size_in(pool, 0) == 9
