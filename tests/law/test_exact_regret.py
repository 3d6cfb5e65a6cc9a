"""Simulated regret of small problems agrees with the exact one."""

import pytest
from laws import ALPHA
from scipy import stats

from giro.paper.theory.exact import exact_bootstrap_regret, exact_giro_regret
from giro.simulation.metrics import estimate
from giro.simulation.simulate import simulate

MEANS, ROUNDS, RUNS = (0.6, 0.3), 12, 4_000
EXACT = {
    "giro:a=1": lambda: exact_giro_regret(MEANS, ROUNDS, 1.0),
    "giro:a=1/3": lambda: exact_giro_regret(MEANS, ROUNDS, 1 / 3),
    "giro:a=0.1": lambda: exact_giro_regret(MEANS, ROUNDS, 0.1),
    "giro:a=1,ties=fixed": lambda: exact_giro_regret(MEANS, ROUNDS, 1.0, ties="fixed"),
    "bootstrap:pulls=1": lambda: exact_bootstrap_regret(MEANS, ROUNDS),
    "bootstrap:pulls=2": lambda: exact_bootstrap_regret(MEANS, ROUNDS, pulls=2),
}


def p_value(policy: str, exact: float, seed: int) -> float:
    """Return the chance of a simulated mean as far from the exact one as found, or farther."""
    problem = f"bernoulli:means=[{MEANS[0]},{MEANS[1]}]"
    trace = simulate(policy, problem, rounds=ROUNDS, runs=RUNS, seed=seed, points=1)
    found = estimate(trace.regret[:, -1])
    return float(2 * stats.norm.sf(abs(found.mean - exact) / found.se))


@pytest.mark.parametrize("policy", EXACT)
def test_simulated_regret_is_the_exact_one(policy: str, seed: int) -> None:
    assert p_value(policy, EXACT[policy]()[-1], seed) > ALPHA


def test_the_exact_regret_of_another_policy_is_refused(seed: int) -> None:
    assert p_value("giro:a=1", EXACT["bootstrap:pulls=2"]()[-1], seed) < ALPHA
