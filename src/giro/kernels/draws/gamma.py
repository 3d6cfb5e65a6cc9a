"""Gamma draws, and beta draws as shares of them."""

import math

import numpy as np

from giro.kernel import borrowed, inline_kernel, kernel
from giro.kernels.draws.exponential import standard_exponential
from giro.kernels.draws.normal import standard_normal

_SMALLEST = 1e-300  # any smaller shape gives 0 as this one does


@kernel
def standard_gamma(shape: float, rng: np.random.Generator) -> float:
    """Return a draw from Gamma(shape, 1), shape > 0.

    Below shape 1, a draw of shape + 1 times U^(1 / shape) (Marsaglia and Tsang, 2000, Section 6);
    0 where that is too small for a number.
    """
    rng = borrowed(rng)
    if shape < 1.0:
        return _gamma_from_1(shape + 1.0, rng) * _power(shape, rng)
    return _gamma_from_1(shape, rng)


@inline_kernel
def _gamma_from_1(shape: float, rng: np.random.Generator) -> float:
    """Return a draw of shape 1 or more (Marsaglia and Tsang, 2000, Section 4)."""
    rng = borrowed(rng)
    if shape == 1.0:
        return standard_exponential(rng)
    d = shape - 1.0 / 3.0
    c: float = 1.0 / np.sqrt(9.0 * d)
    while True:
        x = standard_normal(rng)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = rng.random()
        if u < 1.0 - 0.0331 * (x * x) * (x * x):
            return d * v
        if u > 0.0 and math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return d * v


@inline_kernel
def _power(shape: float, rng: np.random.Generator) -> float:
    """Return U^(1 / shape)."""
    return math.exp(-standard_exponential(rng) / max(shape, _SMALLEST))


@kernel
def beta(a: float, b: float, rng: np.random.Generator) -> float:
    """Return a draw from Beta(a, b), a and b > 0.

    A gamma of shape a as a share of itself and another of shape b, unless both are at most 1.
    """
    rng = borrowed(rng)
    if a <= 1.0 and b <= 1.0:
        return _beta_up_to_1(a, b, rng)
    if a >= 1.0 and b >= 1.0:
        one, other = _gamma_from_1(a, rng), _gamma_from_1(b, rng)
    else:
        one, other = standard_gamma(a, rng), standard_gamma(b, rng)
    return one / (one + other)


@inline_kernel
def _beta_up_to_1(a: float, b: float, rng: np.random.Generator) -> float:
    """Return x = U^(1/a) as a share of itself and y = V^(1/b), given x + y <= 1 (Jöhnk, 1964).

    Where both are too small for a number, their logarithms still tell.
    """
    rng = borrowed(rng)
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
