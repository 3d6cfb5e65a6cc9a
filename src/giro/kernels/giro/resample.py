"""Means of bootstrap samples."""

import numpy as np

from giro.compiling import kernel
from giro.kernels.draws.binomial import binomial, fair_binomial


@kernel
def resampled_mean(rewards: np.ndarray, k: int, rng: np.random.Generator) -> float:
    """Return the mean of a bootstrap sample of `rewards` and of k zeros and k ones.

    The sample is as long as all these together. How many of its entries are observed rewards and
    how many pseudo ones are two binomial draws, so only the observed part is drawn one by one.
    An arm never pulled has the value infinity (Kveton et al., 2019, Algorithm 2).
    """
    s = rewards.size
    if s == 0:
        return np.inf
    m = s + 2 * k
    observed = binomial(m, s / m, rng) if k > 0 else m
    total = float(fair_binomial(m - observed, rng))
    for _ in range(observed):
        total += rewards[int(rng.random() * s)]
    return total / m
