"""Binomial draws, compiled once for all their callers."""

import numpy as np

from giro.kernel import kernel
from giro.kernels.coins import COINS, coins

_FEW = 6 * COINS  # so many coins are counted faster than a general binomial is drawn


@kernel
def binomial(n: int, p: float, rng: np.random.Generator) -> int:
    """Return how many of n coins show 1, each with probability p."""
    return rng.binomial(n, p)


@kernel
def fair_binomial(n: int, rng: np.random.Generator) -> int:
    """Return how many of n fair coins show 1."""
    if n > _FEW:
        return binomial(n, 0.5, rng)
    ones = 0
    while n > 0:
        thrown = min(n, COINS)
        ones += _ones_in(coins(rng) >> (COINS - thrown))
        n -= thrown
    return ones


@kernel
def _ones_in(bits: int) -> int:
    """Return how many bits of a number below 2^56 are 1: sums of pairs, then of fours, ..."""
    bits -= (bits >> 1) & 0x55555555555555
    bits = (bits & 0x33333333333333) + ((bits >> 2) & 0x33333333333333)
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F
    bits += bits >> 8
    bits += bits >> 16
    bits += bits >> 32
    return bits & 0x7F
