"""How many pseudo rewards of each kind go with s rewards, for real a."""

import math

import numpy as np

from giro.compiling import kernel

_ROUNDING = 1e-12  # relative error of a product that still counts as whole: 3 * (1/3) is 1


@kernel
def pseudo_count_distribution(a: float, s: int) -> tuple[int, float]:
    """Return floor(a s), and the probability with which ceil(a s) is taken instead.

    Kveton et al. (2019), Section 6.1: the history with ceil(a s) pseudo rewards of each kind is
    used with probability a s - floor(a s), the one with floor(a s) otherwise.
    """
    product = a * s
    nearest = math.floor(product + 0.5)
    if abs(product - nearest) <= _ROUNDING * product:
        return int(nearest), 0.0
    below = math.floor(product)
    return int(below), product - below


@kernel
def pseudo_count(a: float, s: int, rng: np.random.Generator) -> int:
    """Return floor(a s) or ceil(a s), drawn as `pseudo_count_distribution` says."""
    below, share = pseudo_count_distribution(a, s)
    if share > 0.0 and rng.random() < share:
        return below + 1
    return below
