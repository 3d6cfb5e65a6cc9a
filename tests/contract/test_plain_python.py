"""Compiled and plain Python runs pull identical arms."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from contract.plain_arms import pulled_arms
from known import policies, policies_with_models, problems

from giro import Policy, Problem
from giro.simulation.play import is_compiled

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def plain_arms() -> dict[str, list[int] | str]:
    """The arms of every policy on every problem, played without compiling anything."""
    paths = [str(HERE.parent), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [sys.executable, str(HERE / "plain_arms.py")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("problem", problems(), ids=str)
@pytest.mark.parametrize("policy", policies(), ids=str)
def test_compiled_and_plain_runs_pull_the_same_arms(
    policy: Policy, problem: Problem, plain_arms: dict[str, list[int] | str]
) -> None:
    assert pulled_arms(policy, problem) == plain_arms[f"{policy} on {problem}"]


@pytest.mark.parametrize("policy", policies_with_models(), ids=str)
def test_compiled_and_plain_models_pull_the_same_arms(
    policy: Policy, plain_arms: dict[str, list[int] | str]
) -> None:
    problem = problems()[-1]  # with contexts
    assert pulled_arms(policy, problem) == plain_arms[f"{policy} on {problem}"]


def test_most_policies_compile() -> None:
    python_only = {p.name for p in policies() if not is_compiled(p, Problem.parse("bernoulli"))}
    assert python_only == {"randomized"}
