"""The limit of Lai and Robbins, and how far from it the regret of a policy grows."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from giro import BadParameter, Problem, simulate
from giro.policies.kl_ucb import kl
from giro.problem import Law, reward, start
from giro.seeds import stream
from giro.simulation.limit import divergence, lai_robbins, slope


def law_of(text: str) -> Law:
    problem = Problem.parse(text)
    return problem.law(start(problem, stream(0)), 0)


def naive_divergence(law: Law, m: float) -> float:
    """Return the least divergence of probabilities of the same values and 1, found by a solver."""
    values, weights = np.append(law.values, 1.0), np.append(law.weights, 0.0)
    wanted = (
        {"type": "eq", "fun": lambda other: other.sum() - 1.0},
        {"type": "ineq", "fun": lambda other: values @ other - m},
    )
    found = minimize(
        lambda other: float(-weights @ np.log(other)),
        np.full(values.size, 1 / values.size),
        constraints=wanted,
        bounds=[(1e-9, 1.0)] * values.size,
        method="SLSQP",
        tol=1e-12,
    )
    return float(found.fun + law.weights @ np.log(law.weights))


@pytest.mark.parametrize("mean", [0.0, 0.2, 0.5])
def test_for_rewards_0_and_1_it_is_the_divergence_of_lai_and_robbins(mean: float) -> None:
    law = law_of(f"bernoulli:means=[{mean}]")
    assert divergence(law, 0.7) == pytest.approx(kl(mean, 0.7), rel=1e-12)


def test_for_a_few_values_it_is_the_least_divergence_of_any_law_with_a_higher_mean() -> None:
    law = law_of("discrete:values=[0,0.4,0.8],probabilities=[[0.3,0.5,0.2]]")
    for m in (0.4, 0.6, 0.79, 0.9):
        assert divergence(law, m) == pytest.approx(naive_divergence(law, m), rel=1e-3)
        assert divergence(law, m) > kl(float(law.weights @ law.values), m)


@pytest.mark.parametrize("text", ["beta:v=16,means=[0.4]", "gaussian:means=[0.4]"])
def test_for_densities_it_is_that_of_many_rewards(text: str, seed: int) -> None:
    problem = Problem.parse(text)
    instance, rng = start(problem, stream(seed)), stream(seed, 1)
    drawn = np.array([reward(instance, instance.means, 0, rng) for _ in range(20_000)])
    sample = Law(drawn - drawn.mean() + 0.4, np.full(drawn.size, 1 / drawn.size))
    assert divergence(law_of(text), 0.5) == pytest.approx(divergence(sample, 0.5), rel=0.03)


def test_no_law_has_a_mean_above_1_and_one_that_is_as_good_costs_nothing() -> None:
    law = law_of("bernoulli:means=[0.4]")
    assert divergence(law, 1.0) == math.inf
    assert divergence(law, 0.4) == divergence(law, 0.3) == 0.0


def test_the_constant_sums_over_arms_and_averages_over_instances(seed: int) -> None:
    by_hand = 2 * 0.1 / kl(0.5, 0.6) + 0.4 / kl(0.2, 0.6)
    assert lai_robbins("bernoulli:means=[0.5,0.6,0.5,0.2,0.6]") == pytest.approx(by_hand)
    problem = Problem.parse("bernoulli:n_arms=3")
    means = [start(problem, stream(seed, run, 0)).means for run in range(5)]
    each = [sum((m.max() - x) / kl(x, m.max()) for x in m if x < m.max()) for m in means]
    assert lai_robbins(problem, runs=5, seed=seed) == pytest.approx(np.mean(each))


def test_a_problem_whose_arms_have_no_fixed_law_has_no_limit() -> None:
    with pytest.raises(BadParameter, match="has no limit"):
        lai_robbins("linear")


def test_the_slope_is_how_regret_grows_in_the_log_of_the_last_rounds(seed: int) -> None:
    trace = simulate("uniform", "bernoulli:means=[1,0]", rounds=1_000, runs=20, seed=seed)
    at = {int(n): trace.regret[:, i] for i, n in enumerate(trace.checkpoints)}
    by_hand = (at[1_000] - at[100]) / math.log(10)
    assert slope(trace).mean == pytest.approx(by_hand.mean())
    assert slope(trace).mean == pytest.approx(450 / math.log(10), rel=0.05)
