"""Fair pseudo rewards for every observed context (Kveton et al., 2019, PHE)."""

import math

import numpy as np

from giro.compiling import kernel
from giro.kernels.draws.discrete import fair_binomial
from giro.kernels.draws.uniform import COINS, coins
from giro.kernels.giro.pseudo_rewards import pseudo_count_distribution

_FEW = 6  # coins: up to this many, throwing one by one is faster than counting together


@kernel
def pseudo_rewards_by_pull(a: float, pulls: int) -> np.ndarray:
    """Return the number of pseudo rewards of each pull, ceil(a s) - ceil(a (s - 1)) for the s-th.

    So s pulls have ceil(a s) in all, as in PHE without contexts, spread as evenly as possible. If a
    is a whole number, each pull has `a`.
    """
    numbers = np.empty(pulls, np.int64)
    before = 0
    for i in range(pulls):
        below, share = pseudo_count_distribution(a, i + 1)
        so_far = below + 1 if share > 0.0 else below
        numbers[i] = so_far - before
        before = so_far
    return numbers


@kernel
def throw(throws: np.ndarray, ones: np.ndarray, rng: np.random.Generator) -> None:
    """Set ones[i] to the number of ones among throws[i] fair coins."""
    bits, left = 0, 0
    for i in range(throws.size):
        n = throws[i]
        if n > _FEW:
            ones[i] = fair_binomial(n, rng)
            continue
        ones[i] = 0
        for _ in range(n):
            if left == 0:
                bits, left = coins(rng), COINS
            ones[i] += bits & 1
            bits >>= 1
            left -= 1


@kernel
def rounded(value: float, unit: float) -> float:
    """Return the nearest multiple of 1 / unit, so that equal fits tie despite rounding errors."""
    return math.floor(value * unit + 0.5) / unit
