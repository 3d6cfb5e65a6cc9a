"""GLOC: its bounds, by dense matrices and Theorem 1."""

import math
from typing import Any

import numpy as np
import pytest
from live_kernels import law_of
from policies.in_context import Past, chosen, informed, some_past, with_constant
from policies.online_newton_twin import literal_step
from scipy.special import expit

from giro.errors import BadParameter
from giro.offer import offer_of
from giro.policies.gloc import Gloc, _bounds


def literal_bounds(past: Past, x: np.ndarray, policy: Gloc) -> np.ndarray:
    """Jun et al. (2017), Algorithms 1 and 2, Theorems 1 and 3, for each arm by itself."""
    return np.array(
        [x @ centre + radius * width for centre, radius, width in _sets(past, x, policy)]
    )


def _sets(past: Past, x: np.ndarray, policy: Gloc) -> list[tuple[np.ndarray, float, float]]:
    found, s, r = [], policy.norm, 0.5
    kappa = math.exp(-s) / (1 + math.exp(-s)) ** 2
    for rows, rewards in past.each():
        v, theta, scores = policy.penalty * np.eye(x.size), np.zeros(x.size), []
        bound = 2 * kappa * s**2 * policy.penalty
        for row, reward in zip(rows, rewards, strict=True):
            v = v + np.outer(row, row)
            scores.append(row @ theta)
            gradient = (expit(row @ theta) - reward) * row
            bound += gradient @ np.linalg.solve(v, gradient) / (2 * kappa)
            theta = literal_step(theta, v, gradient / kappa, s)
        z = np.array(scores)
        centre = np.linalg.solve(v, rows.T @ z)
        log = math.log(
            2
            / policy.delta
            * math.sqrt(1 + 2 * bound / kappa + 4 * r**4 / (kappa**4 * policy.delta**2))
        )
        alpha = 1 + 4 * bound / kappa + 8 * r**2 / kappa**2 * log
        beta = alpha + policy.penalty * s**2 - (z @ z - centre @ rows.T @ z)
        radius = math.sqrt(beta) if policy.scale is None else policy.scale
        found.append((centre, radius, math.sqrt(x @ np.linalg.solve(v, x))))
    return found


@pytest.mark.parametrize(
    "policy", [Gloc(), Gloc(0.3, penalty=0.1), Gloc(norm=0.2, delta=0.3), Gloc(norm=3)]
)
def test_bounds_are_those_of_dense_matrices(policy: Gloc, seed: int) -> None:
    past = some_past(rounds=200, d=6, n_arms=4, seed=seed, tried=3)
    state = informed(policy, past)
    for x in past.contexts[:10]:
        literal, offer = literal_bounds(past, with_constant(x), policy), offer_of(4, x)
        np.testing.assert_allclose(_bounds(state, offer), literal, rtol=1e-7, atol=1e-7)
        assert chosen(state, offer, draws=1, seed=seed) == np.argmax(literal)
        assert law_of(state, offer)[np.argmax(literal)] == 1.0


def test_the_radius_shrinks_by_what_the_regression_of_scores_leaves(seed: int) -> None:
    past = some_past(rounds=300, d=6, n_arms=2, seed=seed)
    state, x = informed(Gloc(norm=0.5), past), past.contexts[0]
    state.squares[:] = 0.0  # a wrong term is noticed
    wrong = _bounds(state, offer_of(2, x))
    assert (wrong > literal_bounds(past, with_constant(x), Gloc(norm=0.5))).all()


def test_steps_are_projected_to_the_ball(seed: int) -> None:
    past = some_past(rounds=200, d=6, n_arms=3, seed=seed)
    lengths = np.linalg.norm(informed(Gloc(norm=0.05), past).theta, axis=1)
    assert lengths.max() == pytest.approx(0.05)


@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_equal_rewards_in_equal_contexts_leave_finite_bounds(reward: float) -> None:
    past = Past(np.full((90, 4), 200.0), np.arange(90) % 3, np.full(90, reward), 3)
    state = informed(Gloc(), past)
    assert np.isfinite(_bounds(state, offer_of(3, np.full(4, 200.0)))).all()
    assert np.linalg.norm(state.theta, axis=1).max() <= 1.0 + 1e-9


@pytest.mark.parametrize(
    "wrong", [{"scale": -1.0}, {"penalty": 0.0}, {"delta": 1.0}, {"norm": 0.0}, {"norm": 101.0}]
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(BadParameter, match=f"gloc needs .*{name}"):
        Gloc(**wrong)
