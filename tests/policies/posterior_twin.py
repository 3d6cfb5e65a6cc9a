"""Parameters drawn from the posterior of a regression with unknown noise, by its definition."""

from typing import Any

import numpy as np
from live_kernels import taught

from giro.offer import Case, Offer, Shape
from giro.policies._posterior import PosteriorPolicy
from giro.policy import start
from giro.seeds import stream


def literal_draws(
    rows: np.ndarray,
    rewards: np.ndarray,
    policy: PosteriorPolicy,
    draws: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return β, [draw, column]: Riquelme et al. (2018), Section 3, with mean 0 before."""
    precision = policy.penalty * np.eye(rows.shape[1]) + rows.T @ rows
    mean, covariance = np.linalg.solve(precision, rows.T @ rewards), np.linalg.inv(precision)
    a = policy.a + rewards.size / 2
    b = policy.b + 0.5 * (rewards @ rewards - mean @ precision @ mean)
    variances = 1.0 / rng.gamma(a, 1.0 / b, draws)
    noise = rng.multivariate_normal(np.zeros(mean.size), covariance, draws)
    return mean + np.sqrt(variances)[:, None] * noise


def of_shared_arms(
    policy: PosteriorPolicy, seed: int
) -> tuple[Any, Offer, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Return a state that has learned of arms with features, an offer, its rows, and the past.

    Rows are features of an arm and the constant 1.
    """
    rng, nothing = stream(seed, 5), np.empty(0)
    state = start(policy, Shape(4, 0, 3, 100, 100), rng)
    features, rewards = rng.normal(size=(60, 3)), (rng.random(60) < 0.4).astype(float)
    for row, reward in zip(features, rewards, strict=True):
        taught(state, Case(nothing, row), int(rng.integers(4)), float(reward), rng)
    of_arms = rng.normal(size=(4, 3))
    past = np.column_stack([features, np.ones(60)]), rewards
    return (
        state,
        Offer(np.arange(4), nothing, of_arms),
        np.column_stack([of_arms, np.ones(4)]),
        past,
    )
