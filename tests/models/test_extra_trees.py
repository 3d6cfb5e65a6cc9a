"""Extra trees: the mean of a plain twin's trees, which follow new rows and are grown again."""

from typing import Any

import numpy as np
import pytest
from kernels.tree.plain_trees import Draws, grown, leaf_at, ranks_of
from models.contexts import drawn_counts
from models.samples import fitted, sample_of

from giro.compiling import plain
from giro.errors import BadParameter
from giro.kernels.tree.random_trees import TREE, leaf_of
from giro.model import Sample, start
from giro.models import extra_trees
from giro.models.extra_trees import ExtraTrees
from giro.seeds import stream


def whole_sample(n: int, seed: int, counts: np.ndarray | None = None) -> Sample:
    """Return rows of 40 values a feature, with rewards in eighths, each drawn once."""
    rng = stream(seed, 5)
    contexts = np.column_stack([rng.integers(0, 40, size=(n, 3)) / 7, np.ones(n)])
    rewards = np.clip((contexts[:, 0] > contexts[:, 1]) + rng.integers(-4, 5, n) / 8, 0.0, 1.0)
    if counts is None:
        counts = np.tile(np.array([1, 0, 0], np.int32), (n, 1))
    return sample_of(contexts, rewards, counts)


def first(sample: Sample, n: int) -> Sample:
    return Sample(sample.rows, sample.positions[:n], sample.counts[:n])


def begun(model: ExtraTrees, n: int, *, slots: int = 1) -> Any:
    return start(model, slots, 4, n, stream(0))


def values(state: Any, contexts: np.ndarray, slot: int = 0) -> np.ndarray:
    return np.array([ExtraTrees.value(state, slot, x) for x in contexts])


def test_the_mean_of_a_plain_twins_trees_is_expected(seed: int) -> None:
    sample = whole_sample(80, seed, drawn_counts(80, seed))
    state = begun(ExtraTrees(trees=3), 80)
    ExtraTrees.refit(state, 0, sample, stream(seed, 1))
    real, one, zero = sample.counts.T
    x, y = sample.rows.contexts, sample.rows.rewards
    draws = Draws(x, ranks_of(x), real + one + zero, real * y + one, real * y**2 + one)
    draws = Draws(*(part[draws.weights > 0] for part in draws))
    theirs, asked = stream(seed, 1), x + 0.01
    trees = [grown(draws, 2, 1, theirs) for _ in range(3)]
    wanted = [
        np.mean([leaf.total / leaf.weight for leaf in leaves])
        for leaves in zip(
            *([leaf_at(tree, context) for context in asked] for tree in trees), strict=True
        )
    ]
    np.testing.assert_allclose(values(state, asked), wanted, rtol=1e-7)


def test_a_new_row_is_added_to_its_leaves(seed: int) -> None:
    sample, rng = whole_sample(60, seed, drawn_counts(60, seed)), stream(seed, 1)
    state = begun(ExtraTrees(trees=3), 60)
    ExtraTrees.partial_fit(state, 0, first(sample, 50), rng)
    state.due[:] = 1000
    real, one, zero = sample.counts.T
    weights, totals = real + one + zero, real * sample.rows.rewards + one
    before, children = state.pool.mass.copy(), state.pool.child.copy()
    used = state.pool.used[0]
    for n in range(51, 61):
        ExtraTrees.partial_fit(state, 0, first(sample, n), rng)
        for tree in range(3):
            leaf = leaf_of(state.pool, tree, sample.rows.contexts[n - 1])
            before[leaf] += [weights[n - 1], totals[n - 1]]
    np.testing.assert_allclose(state.pool.mass[: 2 * used], before[: 2 * used], rtol=1e-6)
    assert state.pool.used[0] == used
    assert np.array_equal(state.pool.child[: 2 * used], children[: 2 * used])


def test_trees_take_turns_when_their_rows_have_grown(seed: int) -> None:
    n, growth = 300, 1.25
    sample, ours = whole_sample(n, seed), stream(seed, 1)
    state = begun(ExtraTrees(trees=4, growth=growth), n)
    steps: list[float] = []
    grown_at: list[list[int]] = [[], [], [], []]
    for rows in range(1, n + 1):
        due, roots = state.due[0].copy(), state.pool.root.copy()
        ExtraTrees.partial_fit(state, 0, first(sample, rows), ours)
        again = rows >= due
        assert np.array_equal(state.pool.root != roots, again)
        assert np.array_equal(state.due[0] != due, again)
        for tree in np.flatnonzero(again):
            grown_at[tree].append(rows)
            if rows > 50:
                steps.append(state.due[0, tree] / rows)
    assert len({tuple(each) for each in grown_at}) == 4  # not all at once
    assert 1.0 < min(steps) and max(steps) < 2 * growth - 1
    assert np.mean(steps) == pytest.approx(growth, abs=0.1)
    assert max(steps) - min(steps) > 0.2  # drawn


def test_with_growth_one_every_reward_grows_all_trees_within_the_memory(seed: int) -> None:
    n, trees = 150, 2
    sample, rng = whole_sample(n, seed), stream(seed, 1)
    state = begun(ExtraTrees(trees=trees, growth=1.0), n)
    for rows in range(1, n + 1):
        ExtraTrees.partial_fit(state, 0, first(sample, rows), rng)
        assert state.due.tolist() == [[rows + 1] * trees]
        assert state.pool.used[0] <= (trees + 1) * rows
    fresh = begun(ExtraTrees(trees=trees), n)
    ExtraTrees.refit(fresh, 0, sample, stream(seed, 2))
    x = np.unique(sample.rows.contexts[:, :4], axis=0)  # known contexts: whole trees agree on them
    np.testing.assert_allclose(values(state, x), values(fresh, x), rtol=1e-6)


def test_a_large_tree_is_grown_over_several_rewards(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old tree answers, and takes in rows, until the new one is complete."""
    monkeypatch.setattr(extra_trees, "_EFFORT", 600)
    n, fit = 150, plain(ExtraTrees.partial_fit)
    sample, rng, waits = whole_sample(n, seed), stream(seed, 1), 0
    state = begun(ExtraTrees(trees=2, growth=1.3), n)
    for rows in range(1, n + 1):
        roots, due = state.pool.root.copy(), state.due.copy()
        asked = sample.rows.contexts[rows - 1]
        leaves = [leaf_of(state.pool, tree, asked) for tree in range(2) if roots[tree] >= 0]
        before = state.pool.mass[leaves, 0]
        fit(state, 0, first(sample, rows), rng)
        waits += (same := roots == state.pool.root).all() and bool((rows >= due).any())
        if same.all() and (roots >= 0).all():
            assert np.array_equal(state.pool.mass[leaves, 0], before + 1)
        assert ExtraTrees.unfinished(state) == (state.growth.at[TREE] >= 0)
    assert waits > 20
    assert (state.due > n / 1.6).all()  # none was left behind


def test_skipped_rows_are_put_into_bins_by_and_by(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extra_trees, "_CAUGHT_UP", 30)
    catch_up = plain(extra_trees._catch_up)
    monkeypatch.setattr(extra_trees, "_catch_up", catch_up)
    fit, sample, rng = plain(ExtraTrees.partial_fit), whole_sample(80, seed), stream(seed, 1)
    state = begun(ExtraTrees(trees=2), 80)
    for step, (taken, roots) in enumerate([(30, -1), (60, -1), (80, 0)]):
        fit(state, 0, first(sample, 78 + step), rng)
        assert state.bins.taken[0] == taken
        assert ExtraTrees.unfinished(state) == (taken < 80)
        assert (state.pool.root >= 0).all() == (roots == 0)


def test_slots_have_trees_of_their_own(seed: int) -> None:
    sample, rng = whole_sample(40, seed), stream(seed, 1)
    state = begun(ExtraTrees(trees=2), 40, slots=3)
    ExtraTrees.refit(state, 1, sample, rng)
    x = sample.rows.contexts
    assert (values(state, x, 0) == 0.5).all() and (values(state, x, 2) == 0.5).all()
    before = values(state, x, 1)
    ExtraTrees.partial_fit(state, 2, first(sample, 20), rng)
    assert np.array_equal(values(state, x, 1), before) and np.ptp(values(state, x, 2)) > 0


def test_it_learns_what_a_linear_model_cannot(seed: int) -> None:
    rng = stream(seed, 4)
    x = np.column_stack([rng.normal(size=(600, 2)), np.ones((600, 2))])
    y = 1.0 * (x[:, 0] * x[:, 1] > 0)
    state = fitted(
        ExtraTrees(), first(sample_of(x, y, np.eye(1, 3, dtype=np.int32).repeat(600, 0)), 400)
    )
    errors = values(state, x[400:]) - y[400:]
    assert np.mean((x @ np.linalg.lstsq(x, y)[0] - y) ** 2) > 0.2
    assert np.mean(errors**2) < 0.1


@pytest.mark.parametrize("text", ["trees=0", "candidates=0", "leaf=0", "growth=0.9", "growth=inf"])
def test_bad_parameters_are_refused(text: str) -> None:
    with pytest.raises(BadParameter, match=f"extra-trees needs .*{text.partition('=')[0]}"):
        ExtraTrees.parse(f"extra-trees:{text}")
