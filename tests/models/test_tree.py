"""The compiled tree: the splits of an exhaustive search, grown only where it is asked."""

import math
from typing import Any

import numpy as np
import pytest
from models.cart import answer, grown
from models.samples import fitted, sample_of, written_out
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from giro.errors import BadParameter
from giro.kernels.tree.grow import MOST
from giro.model import Model, Sample, refit, start, value
from giro.models.tree import Tree
from giro.seeds import stream


def steps(seed: int, n: int, *, fractions: bool = False) -> Sample:
    """Return a bootstrap sample whose rewards depend on two of four features of 9 values each."""
    rng = stream(seed, 5)
    contexts = np.column_stack([rng.integers(0, 9, size=(n, 4)) / 9, np.ones(n)])
    chance = 0.1 + 0.5 * (contexts[:, 0] > 0.45) + 0.3 * (contexts[:, 1] > 0.7)
    rewards = (rng.random(n) < chance).astype(float)
    if fractions:
        rewards = rng.beta(1 + rewards, 2 - rewards)
    return sample_of(contexts, rewards, rng.poisson([1, 0.5, 0.5], (n, 3)).astype(np.int32))


def questions(seed: int, n: int) -> np.ndarray:
    return np.column_stack([stream(seed, 6).random((n, 4)), np.ones(n)])


def answers(state, contexts: np.ndarray) -> np.ndarray:
    return np.array([value(state, 0, context) for context in contexts])


@pytest.mark.parametrize(
    "limits", [{}, {"depth": 2}, {"leaf": 7}, {"depth": 6, "leaf": 2}], ids=str
)
@pytest.mark.parametrize("fractions", [False, True])
def test_every_split_is_the_best_one(limits: dict[str, Any], fractions: bool, seed: int) -> None:
    sample = steps(seed, 60, fractions=fractions)
    twin = grown(*written_out(sample), **limits)
    asked = questions(seed, 200)
    expected = [answer(twin, context) for context in asked]
    assert answers(fitted(Tree(**limits), sample), asked) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("twin", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_splits_are_those_of_scikit_learn(twin: type, seed: int) -> None:
    sample = steps(seed, 400)  # of so many rows that no two splits are equally good
    contexts, rewards = written_out(sample)
    other = twin(max_depth=2, random_state=0).fit(contexts, rewards.astype(int))
    asked = questions(seed, 200)
    is_classifier = twin is DecisionTreeClassifier
    expected = other.predict_proba(asked)[:, 1] if is_classifier else other.predict(asked)
    assert answers(fitted(Tree(2), sample), asked) == pytest.approx(expected, abs=1e-12)


def test_a_whole_tree_knows_the_mean_of_each_context(seed: int) -> None:
    sample = steps(seed, 150, fractions=True)
    contexts, rewards = written_out(sample)
    state = fitted(Tree(), sample)
    for context in np.unique(contexts, axis=0):
        mean = rewards[(contexts == context).all(axis=1)].mean()
        assert value(state, 0, context) == pytest.approx(mean, abs=1e-12)


def test_answers_do_not_depend_on_what_was_asked_before(seed: int) -> None:
    sample, asked = steps(seed, 100), questions(seed, 100)
    forwards = answers(fitted(Tree(), sample), asked)
    backwards = answers(fitted(Tree(), sample), asked[::-1])[::-1]
    assert forwards.tolist() == backwards.tolist()


def test_slots_are_trees_of_their_own(seed: int) -> None:
    sample, asked, rng = steps(seed, 100), questions(seed, 50), stream(seed)
    state = start(Tree(), 2, 5, 100, rng)
    half = Sample(sample.rows, sample.positions[::2].copy(), sample.counts[::2].copy())
    refit(state, 0, sample, rng)
    first = answers(state, asked[:25])
    refit(state, 1, half, rng)
    whole = answers(fitted(Tree(), sample), asked)
    assert [*first, *answers(state, asked[25:])] == whole.tolist()
    assert [value(state, 1, x) for x in asked] == answers(fitted(Tree(), half), asked).tolist()


def test_what_cannot_be_split_is_a_leaf() -> None:
    contexts, counts = (
        np.array([[0.0, 1.0], [1.0, 1.0]]),
        np.array([[1, 0, 0], [2, 0, 0]], np.int32),
    )
    same_context = sample_of(contexts[[0, 0]], np.array([0.0, 1.0]), counts)
    assert value(fitted(Tree(), same_context), 0, contexts[1]) == pytest.approx(2 / 3)
    same_reward = sample_of(contexts, np.array([0.3, 0.3]), counts)
    assert value(fitted(Tree(), same_reward), 0, contexts[1]) == pytest.approx(0.3)
    too_few = sample_of(contexts, np.array([0.0, 1.0]), counts)
    assert value(fitted(Tree(leaf=2), too_few), 0, contexts[1]) == pytest.approx(2 / 3)
    nothing = sample_of(contexts, np.array([0.0, 1.0]), 0 * counts)
    assert value(fitted(Tree(), nothing), 0, contexts[1]) == 0.5


def test_a_step_is_found_among_thousands_of_values(seed: int) -> None:
    n, rng = 3000, stream(seed)
    contexts = np.column_stack([rng.standard_normal(n) * 200, np.ones(n)])
    sample = sample_of(contexts, (contexts[:, 0] > 31.0).astype(float), np.eye(n, 3, 0, np.int32))
    sample.counts[:, 0] = 1
    sample.counts[:, 1:] = 0
    state = fitted(Tree(1), sample)
    share = 2 / MOST  # of the values are nearer to the step than two bins
    near = np.quantile(np.abs(contexts[:, 0] - 31.0), share)
    asked = contexts[np.abs(contexts[:, 0] - 31.0) > near]
    assert (np.abs(answers(state, asked) - (asked[:, 0] > 31.0)) < 0.1).all()


# -- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [0, -1, 1.5, math.nan])
def test_depth_is_a_whole_number_or_none(depth: int) -> None:
    with pytest.raises(BadParameter, match="tree needs a whole number depth >= 1, or none"):
        Tree(depth)


@pytest.mark.parametrize("leaf", [0, 0.5, None])
def test_leaf_is_a_whole_number(leaf: int) -> None:
    with pytest.raises(BadParameter, match="tree needs a whole number leaf >= 1"):
        Tree(leaf=leaf)


def test_its_text_can_be_read() -> None:
    assert Model.parse("tree:depth=3,leaf=2") == Tree(3, 2)
    assert Tree().text == "tree:leaf=1"
