"""What every family of problems in problems/ promises."""

import math

import numpy as np
import pytest
from known import problems

from giro import Policy, Problem
from giro.named import summary
from giro.problem import reveal, reward, start
from giro.seeds import stream
from giro.simulation.play import play_run

ALPHA = 1e-6
DRAWS = 4_000

each_problem = pytest.mark.parametrize("problem", problems(), ids=str)


@each_problem
def test_rewards_have_the_revealed_means(problem: Problem, seed: int) -> None:
    instance, rng = start(problem, stream(seed, 0)), stream(seed, 1)
    _, means, highest = reveal(instance, 0, rng)
    assert means.size == problem.n_arms
    assert highest == means.max()
    margin = math.sqrt(math.log(2 * means.size / ALPHA) / (2 * DRAWS))  # Hoeffding
    for arm in range(means.size):
        rewards = np.array([reward(instance, means, arm, rng) for _ in range(DRAWS)])
        assert 0.0 <= rewards.min() <= rewards.max() <= 1.0
        assert abs(rewards.mean() - means[arm]) < margin


@each_problem
def test_contexts_are_as_wide_as_announced(problem: Problem, seed: int) -> None:
    context, _, _ = reveal(start(problem, stream(seed)), 0, stream(seed, 1))
    assert context.size == problem.n_features


@each_problem
def test_every_policy_meets_the_same_instance_in_the_same_run(problem: Problem, seed: int) -> None:
    gaps = [_gaps(Policy.parse(name), problem, seed) for name in ("uniform", "ucb1", "greedy")]
    for first, second in ((gaps[0], gaps[1]), (gaps[0], gaps[2])):
        same = [step for step in first if step in second]
        assert same
        for step in same:
            assert first[step] == pytest.approx(second[step], abs=1e-9)


def _gaps(policy: Policy, problem: Problem, seed: int) -> dict[tuple[int, int], float]:
    """Return the regret of each round by (round, pulled arm)."""
    every_round = np.arange(1, 101)
    record = play_run(policy, problem, every_round, seed=seed, run=7, keep_arms=True)
    gaps = np.diff(record.regret, prepend=0.0)
    return {(t, int(arm)): float(gaps[t]) for t, arm in enumerate(record.arms)}


@each_problem
def test_text_makes_an_equal_problem(problem: Problem) -> None:
    assert Problem.parse(problem.text) == problem


@each_problem
def test_says_what_it_is_and_where_it_comes_from(problem: Problem) -> None:
    assert summary(type(problem)).endswith(".")
    assert problem.source
