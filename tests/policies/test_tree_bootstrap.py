"""Tree bootstrap: against the algorithm written out, and against laws that are known."""

import math
from typing import Any

import numpy as np
import pytest
from contract.steps import in_steps
from laws import p_value_of_same_counts
from models.cart import answer, grown
from policies.choosing import choice_counts, winner_law
from scipy import stats

from giro.errors import BadParameter
from giro.offer import NO_CONTEXT, Case, Shape, offer_of
from giro.policies.tree_bootstrap import TreeBootstrap
from giro.policy import choose, learn, start
from giro.problems import Classification
from giro.seeds import stream
from giro.simulation.play import play_run

# contexts and rewards of two arms, and where they are asked
CONTEXTS = [[[0.0, 1.0], [0.0, 2.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0]], [[0.0, 1.0], [1.0, 2.0]]]
REWARDS = [[0.0, 1.0, 1.0, 0.4, 0.0], [0.5, 0.6]]
ASKED = np.array([1.0, 2.0])


def literal_choice(zeros: int, ones: int, rng: np.random.Generator, **limits: int) -> int:
    """Return the arm that Algorithm 1 pulls, a tree for each arm from a list of drawn entries."""
    values = []
    for contexts, rewards in zip(CONTEXTS, REWARDS, strict=True):
        s = len(rewards)
        drawn = rng.integers(0, s + zeros + ones, s + zeros + ones)
        rows = drawn[drawn < s]
        prior = [0.0 if position < s + zeros else 1.0 for position in drawn[drawn >= s]]
        leaf = []
        if rows.size > 0:
            x, y = np.array(contexts)[rows], np.array(rewards)[rows]
            tree = grown(x, y, **limits)
            same = [answer(tree, other) == answer(tree, ASKED) for other in x]
            leaf = y[same].tolist()
        values.append(np.mean([*leaf, *prior]))
    best = np.flatnonzero(np.array(values) == max(values))
    return int(rng.choice(best))


@pytest.mark.parametrize(("zeros", "ones", "limits"), [(1, 1, {}), (2, 1, {"leaf": 2})])
def test_arms_are_pulled_as_by_the_algorithm_written_out(
    zeros: int, ones: int, limits: dict[str, Any], seed: int
) -> None:
    policy = TreeBootstrap(zeros, ones, **limits)
    state = start(policy, Shape(2, 2, 0, 10, 10), stream(seed))
    for arm in range(2):
        for context, reward in zip(CONTEXTS[arm], REWARDS[arm], strict=True):
            learn(state, Case(np.array(context), NO_CONTEXT), arm, reward, stream(seed))
    ours, theirs = stream(seed, 1), stream(seed, 2)
    chosen = np.bincount(
        [choose(state, offer_of(2, ASKED), ours) for _ in range(4000)], minlength=2
    )
    written = [literal_choice(zeros, ones, theirs, **limits) for _ in range(2500)]
    assert p_value_of_same_counts(chosen, np.bincount(written, minlength=2)) > 1e-6


def test_without_contexts_it_resamples_rewards_and_prior(seed: int) -> None:
    def law(successes: int, pulls: int) -> tuple[np.ndarray, np.ndarray]:
        n = pulls + 2
        return np.arange(n + 1) / n, stats.binom.pmf(np.arange(n + 1), n, (successes + 1) / n)

    histories = [[1, 0, 0, 1], [0], []]
    counts = choice_counts(TreeBootstrap(), histories, draws=20_000, seed=seed)
    values, laws = zip(law(2, 4), law(0, 1), law(0, 0), strict=True)
    expected = winner_law(values, laws)
    assert stats.chisquare(counts, expected * counts.sum()).pvalue > 1e-6


def test_an_arm_never_pulled_goes_first_if_there_is_no_prior(seed: int) -> None:
    counts = choice_counts(TreeBootstrap(0, 0), [[1], [], []], draws=500, seed=seed)
    assert counts[0] == 0
    assert counts[1:].min() > 0


def test_it_learns_what_no_linear_model_can(seed: int) -> None:
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)
    problem = Classification.from_arrays(np.tile(corners, (5, 1)), [0, 1, 1, 0] * 5)
    record = play_run(in_steps(TreeBootstrap()), problem, np.array([200, 400]), seed=seed, run=0)
    assert record.reward[1] - record.reward[0] > 190  # of 200; by chance 100


@pytest.mark.parametrize("value", [-1, 0.5, math.nan])
def test_prior_rewards_are_whole_numbers(value: int) -> None:
    with pytest.raises(BadParameter, match="tree-bootstrap needs a whole number ones >= 0"):
        TreeBootstrap(ones=value)


def test_limits_are_checked() -> None:
    with pytest.raises(BadParameter, match="tree-bootstrap needs a whole number leaf >= 1"):
        TreeBootstrap(leaf=0)
