"""Binomial draws."""

import math

import numpy as np

from giro.compiling import borrowed, inline_kernel, kernel
from giro.kernels.draws.rejection import KEPT, proposed
from giro.kernels.draws.stirling import binomial_surprise
from giro.kernels.draws.uniform import COINS, coins

_FEW = 6 * COINS  # up to here fair coins are counted faster than a general binomial is drawn
_SMALL_MEAN = 10.0  # from here on the constants of the rejection below hold
_NEAR = 15  # of the mode: ratios of successive probabilities are multiplied
_NEVER = 1e-18  # chance below which a search ends, if rounding did not let it end before
_TINY = 1e-300  # has a logarithm, unlike 0
_EXACT = 4096  # powers up to this one are multiplied out


@kernel
def binomial(n: int, p: float, rng: np.random.Generator) -> int:
    """Return how many of n coins show 1, each with probability p; 0 <= n < 2^53, 0 <= p <= 1."""
    if p > 0.5:
        return n - _up_to_half(n, 1.0 - p, borrowed(rng))
    return _up_to_half(n, p, borrowed(rng))


@inline_kernel
def _up_to_half(n: int, p: float, rng: np.random.Generator) -> int:
    if n * p < _SMALL_MEAN:
        return _by_inversion(n, p, rng)
    return _by_rejection(n, p, rng)


@inline_kernel
def _by_inversion(n: int, p: float, rng: np.random.Generator) -> int:
    """Return the first number whose cumulated probability a uniform number does not reach."""
    none = _power(1.0 - p, n) if n <= _EXACT else math.exp(n * math.log1p(-p))
    odds = p / (1.0 - p)
    rest, k, here = rng.random(), 0, none
    while rest >= here > _NEVER:
        rest -= here
        k += 1
        here *= (n - k + 1) * odds / k
    return min(k, n)


@inline_kernel
def _power(q: float, n: int) -> float:
    """Return q^n by squaring: multiplication is the same on every machine."""
    power = 1.0
    while n > 0:
        if n & 1:
            power *= q
        q *= q
        n >>= 1
    return power


@inline_kernel
def _by_rejection(n: int, p: float, rng: np.random.Generator) -> int:
    """Return the draw by transformed rejection, p <= 1/2 (Hörmann, 1993, algorithm BTRD).

    A point (u, v) of the unit square stands for k = floor(G(u)); it is kept if v is below
    P(k) G'(u) / alpha, relative to the mode.
    """
    rng = borrowed(rng)
    sd = np.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * sd
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = n * p + 0.5
    v_r = 0.92 - 4.2 / b
    while True:
        u, v = proposed(v_r, rng)
        distance = 0.5 - abs(u)
        if v == KEPT:
            return int((2.0 * a / distance + b) * u + c)
        if distance <= 0.0:
            continue
        x = (2.0 * a / distance + b) * u + c
        if x < 0.0 or x >= n + 1.0:
            continue
        alpha = (2.83 + 5.1 / b) * sd
        v *= alpha / (a / (distance * distance) + b)
        if _is_below(v, int(x), n, p):
            return int(x)


@kernel
def _is_below(v: float, k: int, n: int, p: float) -> bool:
    """Tell whether v is at most the probability of k, relative to that of the mode.

    Near the mode by a product, else by bounds, and by logarithms only between the bounds.
    """
    mode = int((n + 1) * p)
    distance = float(abs(k - mode))
    if distance <= _NEAR:
        return v <= _relative_to_mode(k, mode, n, p)
    variance = n * p * (1.0 - p)
    # bounds of log P(k) / P(mode), t - rho and t + rho (Kachitvichyanukul and Schmeiser, 1988)
    rho = ((distance / 3.0 + 0.625) * distance + 1.0 / 6.0) / variance + 0.5
    rho *= distance / variance
    t = -0.5 * distance * distance / variance
    log_v = math.log(max(v, _TINY))
    if distance < 0.5 * variance and abs(log_v - t) > rho:
        return log_v < t
    return log_v <= binomial_surprise(mode, n, p) - binomial_surprise(k, n, p)


@inline_kernel
def _relative_to_mode(k: int, mode: int, n: int, p: float) -> float:
    """Return P(k) / P(mode): (n + 1 - i) p / (i (1 - p)) is the ratio of P(i) to P(i - 1)."""
    above, below = 1.0, 1.0
    for i in range(mode + 1, k + 1):
        above *= (n + 1 - i) * p
        below *= i * (1.0 - p)
    for i in range(k + 1, mode + 1):
        below *= (n + 1 - i) * p
        above *= i * (1.0 - p)
    return above / below


@kernel
def binomials(n: np.ndarray, p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a draw for each n and its p."""
    out = np.empty(n.size, np.int64)
    for i in range(n.size):
        out[i] = binomial(n[i], p[i], rng)
    return out


@kernel
def fair_binomial(n: int, rng: np.random.Generator) -> int:
    """Return how many of n fair coins show 1."""
    rng = borrowed(rng)
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
