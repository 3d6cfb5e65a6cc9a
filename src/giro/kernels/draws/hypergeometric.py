"""Hypergeometric draws: how many ones a sample without replacement holds."""

import math

import numpy as np

from giro.compiling import borrowed, inline_kernel, kernel
from giro.kernels.draws.logarithms import log_factorial

_FEW = 12  # entries: up to here they are drawn one by one faster than otherwise
_NARROW = 25.0  # variance up to which a search from the mode is faster than rejection
_NEVER = 1e-18  # chance below which a search ends, if rounding did not let it end before
_D1 = 1.7155277699214135  # sqrt(8 / e)
_D2 = 0.8989161620588988  # 3 - sqrt(12 / e)


@kernel
def hypergeometric(ones: int, zeros: int, sample: int, rng: np.random.Generator) -> int:
    """Return the number of ones among `sample` of these entries, drawn without replacement.

    What is drawn is the number of the rarer kind in the smaller of the sample and what it leaves.
    """
    n = ones + zeros
    rare, few = min(ones, zeros), min(sample, n - sample)
    drawn = _rare_among_few(rare, n, few, borrowed(rng))
    if rare < ones:
        drawn = few - drawn
    return drawn if few == sample else ones - drawn


@inline_kernel
def _rare_among_few(rare: int, n: int, few: int, rng: np.random.Generator) -> int:
    """Return how many of the `rare` among n entries a sample holds, neither more than n / 2."""
    if rare < few:
        rare, few = few, rare  # which are drawn and which are ones may be exchanged
    if few <= _FEW:
        left = rare
        for i in range(few):
            left -= int(rng.random() * (n - i) < left)
        return rare - left
    share = rare / n
    variance = few * share * (1.0 - share) * (n - few) / (n - 1.0)
    if variance <= _NARROW:
        return _by_inversion(rare, n, few, rng)
    return _by_rejection(rare, n, few, variance, rng)


@kernel
def _by_inversion(rare: int, n: int, few: int, rng: np.random.Generator) -> int:
    """Search outward from the most likely count for where a uniform number is used up."""
    common = n - rare
    low = high = (few + 1) * (rare + 1) // (n + 2)
    log_total = log_factorial(rare) + log_factorial(common) - log_factorial(n)
    log_total += log_factorial(few) + log_factorial(n - few)
    p_low = p_high = math.exp(log_total - _log_ways(low, rare, n, few))
    rest = rng.random() - p_low
    while rest >= 0.0 and p_low + p_high > _NEVER:
        high += 1
        p_high *= (rare - high + 1) * (few - high + 1) / (high * (common - few + high))
        rest -= p_high
        if rest < 0.0:
            return high
        p_low *= low * (common - few + low) / ((rare - low + 1) * (few - low + 1))
        low -= 1
        rest -= p_low
    return max(low, 0)


@inline_kernel
def _log_ways(k: int, rare: int, n: int, few: int) -> float:
    """Return log of k! (rare - k)! (few - k)! (n - rare - few + k)!: P(k) is const. over that."""
    drawn = log_factorial(k) + log_factorial(few - k)
    return drawn + log_factorial(rare - k) + log_factorial(n - rare - few + k)


@kernel
def _by_rejection(rare: int, n: int, few: int, variance: float, rng: np.random.Generator) -> int:
    """Return the draw by the ratio of two uniform numbers (Stadlober, 1990, algorithm HRUA)."""
    rng = borrowed(rng)
    centre = few * (rare / n) + 0.5
    width = _D1 * np.sqrt(variance + 0.5) + _D2
    mode = (few + 1) * (rare + 1) // (n + 2)
    at_mode = _log_ways(mode, rare, n, few)
    while True:
        u = 1.0 - rng.random()  # not 0
        x = centre + width * (rng.random() - 0.5) / u
        if x < 0.0 or x >= few + 1.0:
            continue
        log_ratio = at_mode - _log_ways(int(x), rare, n, few)
        if u * (4.0 - u) - 3.0 <= log_ratio:  # then 2 log(u) is, too
            return int(x)
        if u * (u - log_ratio) < 1.0 and 2.0 * math.log(u) <= log_ratio:
            return int(x)
