"""Kullback-Leibler divergence of Bernoulli distributions, and the upper bound that it gives."""

import math

import numpy as np

from giro.compiling import kernel

_LAST_STEP = 4e-16  # relative step of Newton's method below which nothing is left to gain


@kernel
def kl(p: float, q: float) -> float:
    """Return the divergence of Ber(q) from Ber(p), p log(p/q) + (1-p) log((1-p)/(1-q)).

    It is infinite where q is 0 or 1 and p is not. Close to p its relative error is the rounding
    error over the distance q - p.
    """
    if q <= 0.0 or q >= 1.0:
        return 0.0 if p == q else np.inf
    return _log_ratio(p, q, q - p) + _log_ratio(1.0 - p, 1.0 - q, p - q)


@kernel
def _log_ratio(p: float, q: float, gap: float) -> float:
    """Return p log(p/q) for q = p + gap, exactly 0 for p = 0."""
    if p == 0.0:
        return 0.0
    if abs(gap) < 0.5 * p:  # p/q is close to 1: keep the digits of the gap
        return -p * math.log1p(gap / p)
    return p * math.log(p / q)


@kernel
def kl_upper(p: float, level: float) -> float:
    """Return the largest q in [p, 1] with kl(p, q) <= level, to the last digits.

    Newton's method from the right: kl(p, .) is convex and rises from p on, so each step stays at
    or above the solution. The start is the smaller of two bounds of it, by Pinsker's inequality
    and by p log(p/q) >= p log p.
    """
    if p >= 1.0 or level <= 0.0:
        return p
    if p <= 0.0:
        return -math.expm1(-level)
    tail = (1.0 - p) * math.exp((p * math.log(p) - level) / (1.0 - p))
    q = min(p + math.sqrt(0.5 * level), 1.0 - tail)
    while p < q < 1.0:
        step = (kl(p, q) - level) * q * (1.0 - q) / (q - p)
        if step <= _LAST_STEP * q:
            break
        q -= step
    return q
