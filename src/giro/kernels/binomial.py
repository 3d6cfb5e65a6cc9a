"""Binomial draws, compiled once for all their callers."""

import numpy as np

from giro.kernel import kernel


@kernel
def binomial(n: int, p: float, rng: np.random.Generator) -> int:
    """Return how many of n coins show 1, each with probability p."""
    return rng.binomial(n, p)
