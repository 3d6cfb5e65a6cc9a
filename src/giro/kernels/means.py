"""Means of rewards, arm by arm."""

import numpy as np

from giro.kernel import kernel


@kernel
def means_of(pulls: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Return each arm's mean reward, and infinity for an arm never pulled."""
    means = np.full(pulls.size, np.inf)
    for arm in range(means.size):
        if pulls[arm] > 0:
            means[arm] = total[arm] / pulls[arm]
    return means
