"""What Kveton et al. (2019), Section 6.1, say of the multi-armed bandit experiments.

Paper's scale: ten arms with means from [0.25, 0.75], 10,000 rounds, 100 runs. A statement holds if
the 95 % interval of the paired difference in regret says so.
"""

from functools import cache

import pytest

from giro import Trace, simulate
from giro.simulation.metrics import paired_difference

pytestmark = pytest.mark.slow

PROBLEMS = ["bernoulli", "beta:v=4", "beta:v=16"]
VALUES_OF_A = ["giro:a=1", "giro:a=1/3", "giro:a=1/10"]


@cache
def played(policy: str, problem: str) -> Trace:
    return simulate(policy, problem, rounds=10_000, runs=100, seed=2019)


def outperforms(policy: str, other: str, problem: str) -> bool:
    return paired_difference(played(policy, problem), played(other, problem)).high < 0.0


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("giro", VALUES_OF_A)
def test_giro_outperforms_ucb1_in_all_problems_and_for_all_a(giro: str, problem: str) -> None:
    assert outperforms(giro, "ucb1", problem)


@pytest.mark.parametrize("problem", PROBLEMS[1:])
@pytest.mark.parametrize("giro", VALUES_OF_A)
def test_giro_outperforms_kl_ucb_in_the_beta_bandit_for_all_a(giro: str, problem: str) -> None:
    assert outperforms(giro, "kl-ucb", problem)


@pytest.mark.parametrize("problem", PROBLEMS[1:])
def test_giro_with_a_tenth_outperforms_thompson_in_the_beta_bandit(problem: str) -> None:
    assert outperforms("giro:a=1/10", "thompson", problem)
