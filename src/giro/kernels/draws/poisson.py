"""Poisson draws."""

import math

import numpy as np

from giro.compiling import borrowed, inline_kernel, kernel
from giro.kernels.draws.rejection import KEPT, proposed
from giro.kernels.draws.stirling import poisson_surprise

_SMALL_MEAN = 10.0  # from here on the constants of the rejection below hold
_NEVER = 1e-18  # chance below which a search ends, if rounding did not let it end before
_TINY = 1e-300  # has a logarithm, unlike 0


@inline_kernel
def poisson(mean: float, rng: np.random.Generator) -> int:
    """Return how many points of rate 1 fall into an interval of length `mean` >= 0."""
    if mean < _SMALL_MEAN:
        return poisson_of_few(mean, math.exp(-mean), rng)
    return _by_rejection(mean, borrowed(rng))


@inline_kernel
def poisson_of_few(mean: float, none: float, rng: np.random.Generator) -> int:
    """Return a draw of mean below 10, given `none` = exp(-mean), which is the chance of 0.

    The first cumulated probability that a uniform number does not reach. Up to 2 they are compared
    with it all at once, because a processor cannot guess where a search would end.
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
    """Go on from the chance of 2."""
    k, here = 3, two * mean / 3.0
    while rest >= here > _NEVER:
        rest -= here
        k += 1
        here *= mean / k
    return k


@kernel
def _by_rejection(mean: float, rng: np.random.Generator) -> int:
    """Return the draw by transformed rejection (Hörmann, 1993, algorithm PTRD).

    A point (u, v) of the unit square stands for k = floor(G(u)); it is kept if v is below
    P(k) G'(u) alpha.
    """
    rng = borrowed(rng)
    b = 0.931 + 2.53 * np.sqrt(mean)
    a = -0.059 + 0.02483 * b
    c = mean + 0.445
    v_r = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u, v = proposed(v_r, rng)
        distance = 0.5 - abs(u)
        if v == KEPT:
            return int((2.0 * a / distance + b) * u + c)
        if distance < 0.013 and v > distance:
            continue
        x = (2.0 * a / distance + b) * u + c
        if x < 0.0:
            continue
        v *= (1.1239 + 1.1328 / (b - 3.4)) / (a / (distance * distance) + b)
        if math.log(max(v, _TINY)) <= -poisson_surprise(int(x), mean):
            return int(x)
