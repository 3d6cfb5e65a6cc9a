"""Means of rewards, arm by arm."""

import numpy as np

from giro.compiling import kernel


@kernel
def means_of(pulls: np.ndarray, total: np.ndarray, arms: np.ndarray) -> np.ndarray:
    """Return the mean reward of each of these arms, and infinity for an arm never pulled."""
    means = np.full(arms.size, np.inf)
    for i in range(arms.size):
        if pulls[arms[i]] > 0:
            means[i] = total[arms[i]] / pulls[arms[i]]
    return means
