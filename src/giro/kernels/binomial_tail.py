"""Binomial draws that matter only if they are at least k, more than the mean.

The ratios of successive probabilities b(z + 1) / b(z) = (n - z) p / ((z + 1) q) fall with z. So
with r the first of them, b(z) <= b(k) r^(z - k) for all z >= k. Thus a draw S from Bin(n, p) is
k or more exactly if an exponential variable exceeds

    C = -log[b(k) / (1 - r)],

and then, for Z = k + G with P(G = g) = (1 - r) r^g, a second exponential exceeds the logarithm of
b(k) r^G / b(Z); Z then has the law of S given that it is at least k. What the first exponential has
beyond C is exponential again, so it gives G without another draw.
"""

import math

import numpy as np

from giro.kernel import inline_kernel, kernel

_LOG_2_PI = math.log(2.0 * math.pi)
_FEW = 16  # from here on four terms of Stirling's series are enough for double precision
_ERRORS = np.array(
    [0.0]
    + [math.lgamma(k + 1) - (k + 0.5) * math.log(k) + k - 0.5 * _LOG_2_PI for k in range(1, _FEW)]
)


@kernel
def binomial_from(k: int, n: int, p: float, patience: float, rng: np.random.Generator) -> int:
    """Return a draw from Bin(n, p) if it is k or more, else -1; np < k.

    `patience` is an exponential variable of which no more is known than that it exceeds some number
    below C. Any c = 2 (k - np)^2 / n >= 1/2 is such a number: C is at least c plus the logarithm of
    s = sqrt(2π k (n - k) / n) (1 - r), by Pinsker and Stirling, and s > 1. For 1 - r is more than
    (k - np) / ((k + 1) q), which makes s^2 > 2π (k / (k + 1))^2 / 4 > 1 if k > 3, whether n - k is
    less than k - np or not; smaller k, where n is at most 36, were tried (see the tests).
    """
    if k >= n or p == 0.0:
        return n if k == n and p > 0.0 and patience >= -n * math.log(p) else -1
    odds = p / (1.0 - p)
    ratio = (n - k) * odds / (k + 1)
    missing = 1.0 - ratio
    at_k = _surprise(k, n, p)
    left = patience - at_k - math.log(missing)
    if left < 0.0:
        return -1
    log_ratio = math.log(ratio)
    more = int(-left / log_ratio)
    if k + more > n:
        return -1
    excess = _surprise(k + more, n, p) - at_k + more * log_ratio
    return k + more if rng.standard_exponential() >= excess else -1


@kernel
def _surprise(k: int, n: int, p: float) -> float:
    """Return -log P(Bin(n, p) = k), by Stirling's formula with its error (Loader, 2000)."""
    if k == n:
        return -n * math.log(p)
    ones, zeros = float(k), float(n - k)
    divergence = ones * math.log(ones / (n * p)) + zeros * math.log(zeros / (n * (1.0 - p)))
    errors = _stirling_error(k) + _stirling_error(n - k) - _stirling_error(n)
    return divergence + 0.5 * (_LOG_2_PI + math.log(ones * zeros / n)) + errors


@inline_kernel
def _stirling_error(k: int) -> float:
    """Return log k! minus Stirling's (k + 1/2) log k - k + log(2π) / 2."""
    if k < _FEW:
        return float(_ERRORS[k])
    square = 1.0 / (float(k) * k)
    return (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680))) / k
