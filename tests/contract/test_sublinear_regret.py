"""Regret grows ever more slowly where theory promises it.

The promise depends on parameters (giro:a=1 has one, giro:a=0 has not), so it is listed here by
text and not declared by a policy's class.
"""

import pytest

from giro import simulate
from giro.simulation.metrics import estimate

EASY = "bernoulli:means=[0.8,0.2]"
ROUNDS = 4_000

PROVEN = {
    "ucb1": "Auer et al. 2002, Theorem 1",
    "epsilon-greedy:b=30": "Auer et al. 2002, Theorem 3, with c = 5.4 and d = 0.6",
    "kl-ucb": "Garivier and Cappé 2011, for c = 3",
    "thompson": "Agrawal and Goyal 2013, Theorem 1",
    "bootstrap-thompson:weights=exponential": "is Thompson sampling on Bernoulli problems",
    "besa": "Baransi et al. 2014, for two arms",
    "phe": "Kveton et al. 2019 (IJCAI), for a > 1",
    "giro": "Kveton et al. 2019, Theorem 2, for a > 1 / sqrt(2)",
    "imed": "Honda and Takemura 2015, for rewards in [0, 1]",
    "maillard": "Qin, Jun and Zhang 2023, for rewards in [0, 1]",
    "npts": "Riou and Honda 2020, for rewards in [0, 1]",
    "sda": "Baudry, Kaufmann and Maillard 2020, Theorem 3.1",
}


def slows_down(policy: str, seed: int) -> bool:
    """Tell whether the second half of the rounds costs less than a third of the first."""
    trace = simulate(policy, EASY, rounds=ROUNDS, runs=100, seed=seed, points=2)
    half = trace.checkpoints.tolist().index(ROUNDS // 2)
    first, both = trace.regret[:, half], trace.regret[:, -1]
    return estimate(first / 3 - (both - first)).low > 0.0


@pytest.mark.parametrize("policy", PROVEN)
def test_regret_slows_down_where_that_is_proven(policy: str, seed: int) -> None:
    assert slows_down(policy, seed)


@pytest.mark.parametrize("policy", ["uniform", "epsilon-greedy:epsilon=0.1"])
def test_regret_of_a_policy_that_always_explores_does_not_slow_down(policy: str, seed: int) -> None:
    assert not slows_down(policy, seed)
