"""Compiled and plain Python runs pull identical arms."""

import pytest
from contract.plain_arms import pulled_arms
from contract.without_compiling import printed_by
from known import IN_CONTEXT, can_play, policies, policies_with_models, problems

from giro import BadParameter, Policy, Problem
from giro.simulation.play import is_compiled


@pytest.fixture(scope="session")
def plain_arms() -> dict[str, list[int] | str]:
    """The arms of every policy on every problem, played without compiling anything."""
    return printed_by("plain_arms.py")


@pytest.mark.parametrize("problem", problems(), ids=str)
@pytest.mark.parametrize("policy", policies(), ids=str)
def test_compiled_and_plain_runs_pull_the_same_arms(
    policy: Policy, problem: Problem, plain_arms: dict[str, list[int] | str]
) -> None:
    if can_play(policy, problem):
        assert pulled_arms(policy, problem) == plain_arms[f"{policy} on {problem}"]
    else:
        with pytest.raises(BadParameter, match="cannot use features of arms; policies that can: "):
            pulled_arms(policy, problem)


@pytest.mark.parametrize("policy", policies_with_models(), ids=str)
def test_compiled_and_plain_models_pull_the_same_arms(
    policy: Policy, plain_arms: dict[str, list[int] | str]
) -> None:
    problem = Problem.parse(IN_CONTEXT)
    assert pulled_arms(policy, problem) == plain_arms[f"{policy} on {problem}"]


def test_most_policies_compile() -> None:
    python_only = {p.name for p in policies() if not is_compiled(p, Problem.parse("bernoulli"))}
    assert python_only == {"randomized"}
