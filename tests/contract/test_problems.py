"""What every family of problems in problems/ promises."""

import math
import pickle

import numpy as np
import pytest
from contract.steps import in_steps
from known import all_problems, five_flowers, one_for

from giro import BadParameter, Policy, Problem
from giro.named import summary
from giro.offer import Offer, SparseRows, features_at, put_features
from giro.problem import reveal, reward, start
from giro.seeds import stream
from giro.simulation.play import play_run

ALPHA = 1e-6
DRAWS = 4_000

each_problem = pytest.mark.parametrize("problem", all_problems(), ids=str)


@each_problem
def test_rewards_have_the_revealed_means(problem: Problem, seed: int) -> None:
    instance, rng = start(problem, stream(seed, 0)), stream(seed, 1)
    offer, means, highest = reveal(instance, 0, rng)
    assert means.size == problem.n_arms
    assert 0.0 <= means.min()
    assert highest == means[offer.arms].max()
    margin = math.sqrt(math.log(2 * means.size / ALPHA) / (2 * DRAWS))  # Hoeffding
    for arm in range(means.size):
        rewards = np.array([reward(instance, means, arm, rng) for _ in range(DRAWS)])
        assert 0.0 <= rewards.min() <= rewards.max() <= 1.0
        assert abs(rewards.mean() - means[arm]) < margin


@each_problem
def test_contexts_are_finite_numbers_as_wide_as_announced(problem: Problem, seed: int) -> None:
    for _, context, _ in offers(problem, seed):
        assert (context.dtype, context.shape) == (np.float64, (problem.n_features,))
        assert np.isfinite(context).all()


@each_problem
def test_features_of_arms_are_finite_numbers_as_wide_as_announced(
    problem: Problem, seed: int
) -> None:
    for arms, _, features in offers(problem, seed):
        wanted = (arms.size, problem.n_arm_features)
        assert features.dtype == np.float64
        assert features.shape == wanted if problem.n_arm_features else features.shape[0] == 0
        assert np.isfinite(features).all()


@each_problem
def test_arms_on_offer_are_some_of_all_in_ascending_order(problem: Problem, seed: int) -> None:
    for arms, _, _ in offers(problem, seed):
        assert arms.dtype == np.int64
        assert arms.size > 0
        assert 0 <= arms[0] <= arms[-1] < problem.n_arms
        assert (np.diff(arms) > 0).all()


@each_problem
def test_contexts_hold_no_constant_which_policies_add_themselves(
    problem: Problem, seed: int
) -> None:
    rounds = offers(problem, seed)
    contexts = np.array([context for _, context, _ in rounds])
    features = np.concatenate([features for _, _, features in rounds])
    for table in (contexts, features):
        if table.size:
            assert (table[:, -1] != 1.0).any()


@each_problem
def test_the_same_streams_reveal_the_same_offers(problem: Problem, seed: int) -> None:
    for first, second in zip(offers(problem, seed), offers(problem, seed), strict=True):
        assert all(map(np.array_equal, first, second))


def offers(problem: Problem, seed: int) -> list[Offer]:
    """Return the offers of some rounds; a copy of each, as a problem may overwrite the last."""
    instance, rng = start(problem, stream(seed)), stream(seed, 1)
    revealed = (reveal(instance, t, rng)[0] for t in range(20))
    return [
        Offer(arms.copy(), context.copy(), dense(features, problem))
        for arms, context, features in revealed
    ]


def dense(features: np.ndarray | SparseRows, problem: Problem) -> np.ndarray:
    """Return a copy of features of arms with all their zeros."""
    if isinstance(features, np.ndarray):
        return features.copy()
    table = np.zeros((features.begin.size - 1, problem.n_arm_features))
    for i in range(table.shape[0]):
        put_features(features_at(features, i), table[i])
    return table


@each_problem
def test_every_policy_meets_the_same_instance_in_the_same_run(problem: Problem, seed: int) -> None:
    names = ("uniform", "lin-ucb" if problem.n_arm_features else "ucb1")  # one in a compiled loop
    first, second = (_gaps(Policy.parse(name), problem, seed) for name in names)
    same = [step for step in first if step in second]
    assert same
    for step in same:
        assert first[step] == pytest.approx(second[step], abs=1e-9)


def _gaps(policy: Policy, problem: Problem, seed: int) -> dict[tuple[int, int], float]:
    """Return the regret of each round by (round, pulled arm)."""
    every_round = np.arange(1, 101)
    policy = policy if policy == one_for(problem) else in_steps(policy)
    record = play_run(policy, problem, every_round, seed=seed, run=7, keep_arms=True)
    gaps = np.diff(record.regret, prepend=0.0)
    return {(t, int(arm)): float(gaps[t]) for t, arm in enumerate(record.arms)}


@each_problem
def test_text_makes_an_equal_problem(problem: Problem) -> None:
    if problem == five_flowers():  # its rows came from Python
        with pytest.raises(BadParameter, match="came from Python"):
            Problem.parse(problem.text)
    else:
        assert Problem.parse(problem.text) == problem


@each_problem
def test_a_copy_in_another_process_plays_the_same_run(problem: Problem, seed: int) -> None:
    copy = pickle.loads(pickle.dumps(problem))
    assert copy == problem
    assert (copy.n_arms, copy.n_features) == (problem.n_arms, problem.n_features)
    runs = [
        play_run(one_for(problem), each, np.array([20]), seed=seed, run=1)
        for each in (problem, copy)
    ]
    assert runs[0].reward.tolist() == runs[1].reward.tolist()


@each_problem
def test_says_what_it_is_and_where_it_comes_from(problem: Problem) -> None:
    assert summary(type(problem)).endswith(".")
    assert problem.source
