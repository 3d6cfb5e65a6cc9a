"""Gamma draws, and beta draws as shares of them."""

import math

import numpy as np

from giro.compiling import borrowed, inline_kernel, kernel
from giro.kernels.draws.ziggurat import standard_exponential, standard_normal

_SMALLEST = 1e-300  # any smaller shape gives 0 as this one does
_ONE_OVER_E = math.exp(-1.0)


@inline_kernel
def standard_gamma(shape: float, rng: np.random.Generator) -> float:
    """Return a draw from Gamma(shape, 1), shape > 0; 0 where it is too small for a number."""
    rng = borrowed(rng)
    if shape < 1.0:
        return _gamma_below_1(shape, rng)
    return _gamma_from_1(shape, rng)


@inline_kernel
def _gamma_from_1(shape: float, rng: np.random.Generator) -> float:
    """Return a draw of shape 1 or more: d v, v the cube of a normal variable, thinned.

    Marsaglia and Tsang (2000), Section 4; nine of ten draws are inside their squeeze.
    """
    rng = borrowed(rng)
    if shape == 1.0:
        return standard_exponential(rng)
    d = shape - 1.0 / 3.0
    c: float = 1.0 / np.sqrt(9.0 * d)
    x, u = standard_normal(rng), rng.random()
    v = 1.0 + c * x
    if v > 0.0 and u < 1.0 - 0.0331 * (x * x) * (x * x):
        return d * (v * v * v)
    return _outside_squeeze(x, u, d, c, rng)


@kernel
def _outside_squeeze(x: float, u: float, d: float, c: float, rng: np.random.Generator) -> float:
    """Return the draw that began with x and u."""
    rng = borrowed(rng)
    while True:
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            if u < 1.0 - 0.0331 * (x * x) * (x * x):
                return d * v
            if u > 0.0 and math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
                return d * v
        x, u = standard_normal(rng), rng.random()


@kernel
def _gamma_below_1(shape: float, rng: np.random.Generator) -> float:
    """Return a draw of shape below 1, by rejection (Ahrens and Dieter, 1974, algorithm GS).

    The hat is x^(shape - 1) up to 1, so that x is a power of a uniform number, and exp(-x) beyond.
    """
    rng = borrowed(rng)
    beyond = shape * _ONE_OVER_E  # the area of the hat beyond 1, that up to 1 being 1
    while True:
        if rng.random() * (1.0 + beyond) < 1.0:
            x = math.exp(-standard_exponential(rng) / max(shape, _SMALLEST))
            if standard_exponential(rng) >= x:
                return x
        else:
            x = 1.0 + standard_exponential(rng)
            if standard_exponential(rng) >= (1.0 - shape) * math.log(x):
                return x


@inline_kernel
def beta(a: float, b: float, rng: np.random.Generator) -> float:
    """Return a draw from Beta(a, b), a and b > 0.

    A gamma of shape a as a share of itself and another of shape b, unless both are at most 1.
    """
    rng = borrowed(rng)
    if a < 1.0 or b < 1.0 or a == b == 1.0:
        return _beta_of_small(a, b, rng)
    one, other = _gamma_from_1(a, rng), _gamma_from_1(b, rng)
    return one / (one + other)


@kernel
def _beta_of_small(a: float, b: float, rng: np.random.Generator) -> float:
    """Return the draw where a side is below 1, or both are 1.

    With both up to 1, x = U^(1/a) as a share of itself and y = V^(1/b), given x + y <= 1 (Jöhnk,
    1964). Where these are too small for a number, their logarithms still tell.
    """
    rng = borrowed(rng)
    if a > 1.0 or b > 1.0:
        one, other = standard_gamma(a, rng), standard_gamma(b, rng)
        return one / (one + other)
    if a == b == 1.0:
        return rng.random()
    if a < _SMALLEST and b < _SMALLEST:
        return 1.0 if rng.random() * (a + b) < a else 0.0  # nearly
    while True:
        log_x = -standard_exponential(rng) / max(a, _SMALLEST)
        log_y = -standard_exponential(rng) / max(b, _SMALLEST)
        x, y = math.exp(log_x), math.exp(log_y)
        if x + y <= 1.0:
            break
    if x + y > _SMALLEST:
        return x / (x + y)
    return 1.0 / (1.0 + math.exp(log_y - log_x)) if log_y - log_x < 700.0 else 0.0
