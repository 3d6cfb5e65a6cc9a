"""The probabilities of FastCB as the paper writes them."""

import numpy as np


def literal(losses: np.ndarray, gamma: float) -> np.ndarray:
    """Return the paper's probabilities, from expected losses of which one is least."""
    best, k = int(np.argmin(losses)), losses.size
    chances = np.zeros(k)
    for a in range(k):
        if a != best:
            chances[a] = losses[best] / (k * losses[best] + gamma * (losses[a] - losses[best]))
    chances[best] = 1.0 - chances.sum()
    return chances
