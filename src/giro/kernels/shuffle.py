"""Arms in random order."""

import numpy as np

from giro.kernel import kernel


@kernel
def shuffled(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return 0, ..., n - 1 in uniformly random order (Fisher and Yates)."""
    order = np.arange(n)
    for i in range(n - 1, 0, -1):
        j = int(rng.random() * (i + 1))
        order[i], order[j] = order[j], order[i]
    return order
