"""Binomial, Poisson and hypergeometric draws, and binomial draws that matter only above a bound.

Binomial and Poisson draws of small mean are made by inversion, others by transformed rejection
(Hörmann, 1993, algorithms BTRD and PTRD). A point (u, v) of the unit square stands for
k = floor(G(u)), and is kept if v is below P(k) G'(u), up to a constant.

If draws matter only when they are at least k, which is more than the mean, few need be completed
(`binomial_from`). The ratios of successive probabilities b(z + 1) / b(z) = (n - z) p / ((z + 1) q)
decrease with z. So if r is the first of them, b(z) <= b(k) r^(z - k) for all z >= k. Thus a draw S
from Bin(n, p) is k or more exactly if an exponential variable exceeds

    C = -log[b(k) / (1 - r)],

and then, for Z = k + G with P(G = g) = (1 - r) r^g, a second exponential exceeds the logarithm of
b(k) r^G / b(Z). Z then has the distribution of S given that S is at least k. The excess of the
first exponential over C is exponential again, so it gives G without another draw.
"""

import math

import numpy as np

from giro.compiling import borrowed, inline_kernel, kernel
from giro.kernels.draws.continuous import standard_exponential
from giro.kernels.draws.logarithms import binomial_surprise, log_factorial, poisson_surprise
from giro.kernels.draws.uniform import COINS, coins

_SMALL_MEAN = 10.0  # the constants of the rejections hold from here on
_KEPT = -1.0  # in place of v
_NEVER = 1e-18  # probability at which a search ends, in case rounding did not end it before
_TINY = 1e-300  # has a logarithm, unlike 0
_EXACT = 4096  # powers up to this one are computed by multiplication
_NEAR = 15  # this near to the mode, ratios of successive probabilities are multiplied
_FEW = 6 * COINS  # up to this many, counting fair coins is faster than a general binomial draw


@kernel
def place_by_chance(chances: np.ndarray, rng: np.random.Generator) -> int:
    """Return a place, drawn with these probabilities. What rounding leaves goes to the last one."""
    remainder = rng.random()
    for i in range(chances.size - 1):
        remainder -= chances[i]
        if remainder < 0.0:
            return i
    return int(chances.size - 1)


@kernel
def binomial(n: int, p: float, rng: np.random.Generator) -> int:
    """Return a draw from Bin(n, p), for 0 <= n < 2^53 and 0 <= p <= 1."""
    if p > 0.5:
        return n - _up_to_half(n, 1.0 - p, borrowed(rng))
    return _up_to_half(n, p, borrowed(rng))


@inline_kernel
def _up_to_half(n: int, p: float, rng: np.random.Generator) -> int:
    if n * p < _SMALL_MEAN:
        return _binomial_by_inversion(n, p, rng)
    return _binomial_by_rejection(n, p, rng)


@inline_kernel
def _binomial_by_inversion(n: int, p: float, rng: np.random.Generator) -> int:
    """Return the first number whose cumulative probability exceeds a uniform number."""
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
    """Return q^n by squaring, because multiplication is the same on every machine."""
    power = 1.0
    while n > 0:
        if n & 1:
            power *= q
        q *= q
        n >>= 1
    return power


@inline_kernel
def _binomial_by_rejection(n: int, p: float, rng: np.random.Generator) -> int:
    """Return the draw by algorithm BTRD, p <= 1/2.

    A point is kept if v is below P(k) G'(u) / alpha, P relative to the mode.
    """
    rng = borrowed(rng)
    sd = np.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * sd
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = n * p + 0.5
    v_r = 0.92 - 4.2 / b
    while True:
        u, v = _proposed(v_r, rng)
        distance = 0.5 - abs(u)
        if v == _KEPT:
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
    """Return whether v is at most the probability of k, relative to that of the mode.

    Near the mode a product decides, otherwise bounds do, and logarithms only between the bounds.
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
    """Return P(k) / P(mode), where P(i) / P(i - 1) is (n + 1 - i) p / (i (1 - p))."""
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
    """Return the number of ones among n fair coins."""
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
    """Return the number of ones among the bits of a number below 2^56.

    It sums pairs of bits, then groups of four, and so on.
    """
    bits -= (bits >> 1) & 0x55555555555555
    bits = (bits & 0x33333333333333) + ((bits >> 2) & 0x33333333333333)
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F
    bits += bits >> 8
    bits += bits >> 16
    bits += bits >> 32
    return bits & 0x7F


@kernel
def binomial_from(k: int, n: int, p: float, patience: float, rng: np.random.Generator) -> int:
    """Return a draw from Bin(n, p) if it is at least k > np, otherwise -1.

    `patience` is an exponential variable about which only one thing is known: it exceeds some
    number below C. Any c = 2 (k - np)^2 / n >= 1/2 is such a number: C is at least c plus the
    logarithm of s = sqrt(2π k (n - k) / n) (1 - r), by Pinsker and Stirling, and s > 1. For 1 - r
    is more than (k - np) / ((k + 1) q), which makes s^2 > 2π (k / (k + 1))^2 / 4 > 1 if k > 3,
    whether n - k is less than k - np or not. The tests check smaller k, where n is at most 36.
    """
    if k >= n or p == 0.0:
        return n if k == n and p > 0.0 and patience >= -n * math.log(p) else -1
    odds = p / (1.0 - p)
    ratio = (n - k) * odds / (k + 1)
    missing = 1.0 - ratio
    at_k = binomial_surprise(k, n, p)
    left = patience - at_k - math.log(missing)
    if left < 0.0:
        return -1
    log_ratio = math.log(ratio)
    more = int(-left / log_ratio)
    if k + more > n:
        return -1
    excess = binomial_surprise(k + more, n, p) - at_k + more * log_ratio
    return k + more if standard_exponential(rng) >= excess else -1


@inline_kernel
def poisson(mean: float, rng: np.random.Generator) -> int:
    """Return a draw from the Poisson distribution with this mean >= 0."""
    if mean < _SMALL_MEAN:
        return poisson_of_few(mean, math.exp(-mean), rng)
    return _poisson_by_rejection(mean, borrowed(rng))


@inline_kernel
def poisson_of_few(mean: float, none: float, rng: np.random.Generator) -> int:
    """Return a draw of mean below 10, given `none` = exp(-mean), the probability of 0.

    It is the first number whose cumulative probability exceeds a uniform number. Numbers up to 2
    are compared all at once, because a processor cannot predict where a search ends.
    """
    rest = rng.random()
    one = none * mean
    two = one * mean * 0.5
    up_to_1 = none + one
    up_to_2 = up_to_1 + two
    if rest < up_to_2:
        return int(rest >= none) + int(rest >= up_to_1)
    return _three_or_more(rest - up_to_2, two, mean)


@kernel
def _three_or_more(rest: float, two: float, mean: float) -> int:
    """Continue the search after 2."""
    k, here = 3, two * mean / 3.0
    while rest >= here > _NEVER:
        rest -= here
        k += 1
        here *= mean / k
    return k


@kernel
def _poisson_by_rejection(mean: float, rng: np.random.Generator) -> int:
    """Return the draw by algorithm PTRD, which keeps a point if v is below P(k) G'(u) alpha."""
    rng = borrowed(rng)
    b = 0.931 + 2.53 * np.sqrt(mean)
    a = -0.059 + 0.02483 * b
    c = mean + 0.445
    v_r = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u, v = _proposed(v_r, rng)
        distance = 0.5 - abs(u)
        if v == _KEPT:
            return int((2.0 * a / distance + b) * u + c)
        if distance < 0.013 and v > distance:
            continue
        x = (2.0 * a / distance + b) * u + c
        if x < 0.0:
            continue
        v *= (1.1239 + 1.1328 / (b - 3.4)) / (a / (distance * distance) + b)
        if math.log(max(v, _TINY)) <= -poisson_surprise(int(x), mean):
            return int(x)


@inline_kernel
def _proposed(v_r: float, rng: np.random.Generator) -> tuple[float, float]:
    """Return a uniform point (u, v) of [-1/2, 1/2] x [0, 1].

    The calling rejection keeps every point with |u| <= 0.43 and v <= v_r. For these v is `_KEPT`:
    one uniform number gives v, and divided by v_r it gives u.
    """
    rng = borrowed(rng)
    v = rng.random()
    if v <= 0.86 * v_r:
        return v / v_r - 0.43, _KEPT
    if v >= v_r:
        return rng.random() - 0.5, v
    u = v / v_r - 0.93  # then |u| > 0.43
    return (0.5 if u > 0.0 else -0.5) - u, v_r * rng.random()


# -- hypergeometric: how many ones a sample without replacement holds ------------------------------

_FEW_ENTRIES = 12  # up to this many, drawing one by one is fastest
_NARROW = 25.0  # up to this variance, a search from the mode is faster than rejection
_D1 = 1.7155277699214135  # sqrt(8 / e)
_D2 = 0.8989161620588988  # 3 - sqrt(12 / e)


@kernel
def hypergeometric(ones: int, zeros: int, sample: int, rng: np.random.Generator) -> int:
    """Return the number of ones among `sample` of these entries, drawn without replacement.

    The draw is the number of the rarer kind in the sample or in its complement, whichever is
    smaller.
    """
    n = ones + zeros
    rare, few = min(ones, zeros), min(sample, n - sample)
    drawn = _rare_among_few(rare, n, few, borrowed(rng))
    if rare < ones:
        drawn = few - drawn
    return drawn if few == sample else ones - drawn


@inline_kernel
def _rare_among_few(rare: int, n: int, few: int, rng: np.random.Generator) -> int:
    """Return how many of `rare` entries among n are in a sample of `few`, both at most n / 2."""
    if rare < few:
        rare, few = few, rare  # by symmetry
    if few <= _FEW_ENTRIES:
        left = rare
        for i in range(few):
            left -= int(rng.random() * (n - i) < left)
        return rare - left
    share = rare / n
    variance = few * share * (1.0 - share) * (n - few) / (n - 1.0)
    if variance <= _NARROW:
        return _hypergeometric_by_inversion(rare, n, few, rng)
    return _hypergeometric_by_rejection(rare, n, few, variance, rng)


@kernel
def _hypergeometric_by_inversion(rare: int, n: int, few: int, rng: np.random.Generator) -> int:
    """Search outward from the most likely count until a uniform number is used up."""
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
    """Return log of k! (rare - k)! (few - k)! (n - rare - few + k)!, proportional to 1 / P(k)."""
    drawn = log_factorial(k) + log_factorial(few - k)
    return drawn + log_factorial(rare - k) + log_factorial(n - rare - few + k)


@kernel
def _hypergeometric_by_rejection(
    rare: int, n: int, few: int, variance: float, rng: np.random.Generator
) -> int:
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
        if u * (4.0 - u) - 3.0 <= log_ratio:  # then so is 2 log(u)
            return int(x)
        if u * (u - log_ratio) < 1.0 and 2.0 * math.log(u) <= log_ratio:
            return int(x)
