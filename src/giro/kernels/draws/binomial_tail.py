"""Binomial draws that matter only if they are at least k, more than the mean.

The ratios of successive probabilities b(z + 1) / b(z) = (n - z) p / ((z + 1) q) fall with z. So
with r the first of them, b(z) <= b(k) r^(z - k) for all z >= k. Thus a draw S from Bin(n, p) is
k or more exactly if an exponential variable exceeds

    C = -log[b(k) / (1 - r)],

and then, for Z = k + G with P(G = g) = (1 - r) r^g, a second exponential exceeds the logarithm of
b(k) r^G / b(Z); Z then is distributed as S given that it is at least k. What the first
exponential has beyond C is exponential again, so it gives G without another draw.
"""

import math

import numpy as np

from giro.compiling import kernel
from giro.kernels.draws.exponential import standard_exponential
from giro.kernels.draws.stirling import binomial_surprise


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
