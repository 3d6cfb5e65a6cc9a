"""Compiled and plain Python runs pull identical arms.

Every policy on every problem in steps, for which nothing is compiled but the policy and the
problem; policies on one problem, and every problem by one policy, in the simulator's loop.
"""

from collections.abc import Callable, Iterator

import pytest
from contract.plain_arms import pulled_arms
from contract.steps import in_steps
from contract.without_compiling import answers_of
from known import (
    IN_CONTEXT,
    OF_ARMS,
    each,
    in_loops,
    is_slow_in_loops,
    policies,
    policies_with_models,
    problems_for,
)

from giro import BadParameter, Policy, Problem
from giro.simulation.play import is_compiled

Agrees = Callable[[Policy, Problem, list[int]], None]


@pytest.fixture(scope="session")
def plain_python_agrees() -> Iterator[Agrees]:
    """Fail unless a policy pulls these arms in plain Python."""
    with answers_of("plain_arms.py") as arms_of:

        def agrees(policy: Policy, problem: Problem, arms: list[int]) -> None:
            assert arms == arms_of(policy.name)[f"{policy} on {problem}"]

        yield agrees


@pytest.mark.parametrize(
    ("policy", "problem"),
    [(policy, problem) for policy in policies() for problem in problems_for(policy)],
    ids=str,
)
def test_compiled_and_plain_runs_pull_the_same_arms(
    policy: Policy, problem: Problem, plain_python_agrees: Agrees
) -> None:
    plain_python_agrees(policy, problem, pulled_arms(in_steps(policy), problem))


@pytest.mark.parametrize("policy", [p for p in policies() if not p.uses_arm_features], ids=str)
def test_policies_that_cannot_use_features_of_arms_say_which_can(policy: Policy) -> None:
    with pytest.raises(BadParameter, match="cannot use features of arms; policies that can: "):
        pulled_arms(policy, Problem.parse(OF_ARMS))


@each(policies_with_models())
def test_compiled_and_plain_models_pull_the_same_arms(
    policy: Policy, plain_python_agrees: Agrees
) -> None:
    problem = Problem.parse(IN_CONTEXT)
    plain_python_agrees(policy, problem, pulled_arms(in_steps(policy), problem))


@pytest.mark.parametrize(
    ("policy", "problem"),
    [
        pytest.param(*pair, marks=pytest.mark.slow if is_slow_in_loops(pair[0]) else ())
        for pair in in_loops()
    ],
    ids=str,
)
def test_compiled_loops_and_plain_runs_pull_the_same_arms(
    policy: Policy, problem: Problem, plain_python_agrees: Agrees
) -> None:
    plain_python_agrees(policy, problem, pulled_arms(policy, problem))


def test_most_policies_compile() -> None:
    python_only = {p.name for p in policies() if not is_compiled(p, Problem.parse("bernoulli"))}
    assert python_only == {"randomized"}
