"""What every policy in policies/ promises, judged for each of them by the same tests."""

import pickle
from typing import Any

import numpy as np
import pytest
from contract.steps import in_steps
from known import is_slow_in_loops, policies

from giro import Policy, Problem, simulate
from giro.compiling import is_kernel
from giro.named import has_text, summary
from giro.simulation.play import Record, play_run

ROUNDS = 200
SAME_MEANS = {
    "one arm": "bernoulli:means=[0.5]",
    "all rewards 0": "bernoulli:means=[0,0,0]",
    "all rewards 1": "bernoulli:means=[1,1,1]",
    "all rewards equal": "discrete:values=[0.5],probabilities=[[1],[1],[1]]",
    "a hundred arms": "bernoulli:n_arms=100,low=0.5,high=0.5",
}

each_policy = pytest.mark.parametrize("policy", policies(), ids=str)
each_class = pytest.mark.parametrize("cls", Policy.known().values(), ids=Policy.known())


def play(policy: Policy, problem: str, *, seed: int, rounds: int = ROUNDS) -> Record:
    """Return a run, of problems other than bernoulli in steps: a policy has at most one loop."""
    checkpoints, on = np.array([rounds]), Problem.parse(problem)
    if on.name != "bernoulli" or is_slow_in_loops(policy):
        policy = in_steps(policy)
    return play_run(policy, on, checkpoints, seed=seed, run=0, keep_arms=True)


@each_policy
def test_probabilities_are_compiled_where_choices_are(policy: Policy) -> None:
    functions = policy.resolved(contextual=True).functions()
    exact = functions.propensities
    assert exact is None or is_kernel(exact) == functions.compiled


@each_policy
def test_pulls_legal_arms_only(policy: Policy, seed: int) -> None:
    record = play(policy, "bernoulli:n_arms=5", seed=seed)
    assert record.pulls.tolist() == np.bincount(record.arms, minlength=5).tolist()
    assert record.pulls.sum() == ROUNDS


@each_policy
def test_pulls_the_same_arms_for_the_same_seed(policy: Policy, seed: int) -> None:
    first, second = (play(policy, "beta", seed=seed) for _ in range(2))
    assert first.arms.tolist() == second.arms.tolist()
    assert first.reward.tolist() == second.reward.tolist()


@each_policy
@pytest.mark.parametrize("problem", SAME_MEANS.values(), ids=SAME_MEANS)
def test_survives_arms_without_a_difference(policy: Policy, problem: str, seed: int) -> None:
    assert play(policy, problem, seed=seed).regret[-1] == 0.0


@each_policy
def test_survives_a_single_round(policy: Policy, seed: int) -> None:
    assert play(policy, "bernoulli", seed=seed, rounds=1).pulls.sum() == 1


@each_policy
def test_leaves_nothing_behind_in_the_policy(policy: Policy, seed: int) -> None:
    before = pickle.dumps(policy)
    play(policy, "bernoulli", seed=seed)
    assert pickle.dumps(policy) == before
    assert pickle.loads(before) == policy


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param(policy, marks=pytest.mark.slow if is_slow_in_loops(policy) else ())
        for policy in policies()
    ],
    ids=str,
)
def test_results_do_not_depend_on_the_number_of_jobs(policy: Policy, seed: int) -> None:
    def numbers(jobs: int) -> list[Any]:
        trace = simulate(policy, "bernoulli", rounds=ROUNDS, runs=6, seed=seed, jobs=jobs)
        return [trace.runs.tolist(), trace.regret.tolist(), trace.pulls.tolist()]

    assert numbers(1) == numbers(2)
    if policy.resolved(contextual=False).functions().compiled:  # others start a process for each
        assert numbers(1) == numbers(4)


@each_policy
def test_text_makes_an_equal_policy(policy: Policy) -> None:
    if has_text(type(policy)):
        assert Policy.parse(policy.text) == policy
    else:
        assert policy.text.startswith(f"{policy.name}:")


@each_class
def test_says_what_it_does_and_where_it_comes_from(cls: type[Policy]) -> None:
    assert summary(cls).endswith(".")
    assert cls.source


@each_class
def test_is_a_file_of_its_own(cls: type[Policy]) -> None:
    assert cls.__module__ == f"giro.policies.{cls.name.replace('-', '_')}"
