"""An online Newton step with projection, by its definition."""

import numpy as np
from scipy.optimize import brentq


def literal_step(
    theta: np.ndarray, metric: np.ndarray, step: np.ndarray, norm: float
) -> np.ndarray:
    """Return argmin over |w| <= norm of (w - w₀)'A(w - w₀), for w₀ = θ - A⁻¹ step."""
    target = theta - np.linalg.solve(metric, step)
    if np.linalg.norm(target) <= norm:
        return target

    def nearest(mu: float) -> np.ndarray:
        return np.linalg.solve(metric + mu * np.eye(theta.size), metric @ target)

    def excess(mu: float) -> float:
        return float(np.linalg.norm(nearest(mu)) - norm)

    high = np.linalg.norm(metric, 2) * np.linalg.norm(target) / norm
    return nearest(brentq(excess, 0.0, high, xtol=1e-14, rtol=1e-14))
