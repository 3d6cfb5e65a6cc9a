"""Logistic regression by SciPy: the twin of the policies' own."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit


def fitted(
    contexts: np.ndarray, weight: np.ndarray, total: np.ndarray, penalty: float
) -> np.ndarray:
    """Return the minimiser of Σ [w log(1 + exp(x'θ)) - z x'θ] + penalty |θ|² / 2."""

    def loss(theta: np.ndarray) -> float:
        score = contexts @ theta
        likelihood = weight @ np.logaddexp(0.0, score) - total @ score
        return float(likelihood + penalty * theta @ theta / 2)

    def gradient(theta: np.ndarray) -> np.ndarray:
        return contexts.T @ (weight * expit(contexts @ theta) - total) + penalty * theta

    def second(theta: np.ndarray) -> np.ndarray:
        p = expit(contexts @ theta)
        return (contexts.T * (weight * p * (1 - p))) @ contexts + penalty * np.eye(theta.size)

    d = contexts.shape[1]
    found = minimize(loss, np.zeros(d), jac=gradient, hess=second, method="trust-exact")
    theta = found.x
    for _ in range(3):  # polish beyond what differences of losses can tell
        theta = theta - np.linalg.solve(second(theta), gradient(theta))
    return theta
