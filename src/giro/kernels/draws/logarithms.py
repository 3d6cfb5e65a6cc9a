"""Logarithms: in whole numbers, of factorials, and of the probabilities of whole numbers.

Tables computed at import need logarithms that are the same on every machine. The log and exp of two
machines may differ in the last digit, so these logarithms are computed in whole numbers. Factorials
and probabilities follow from the tables and, beyond them, from Stirling's formula.
"""

import math
from fractions import Fraction

import numpy as np

from giro.compiling import inline_kernel, kernel

UNIT = 1 << 100
_HALF_LOG_2_PI = "0.918938533204672741780329736405617639861"
_LOG_2_PI = 2.0 * float(_HALF_LOG_2_PI)
_FEW = 16  # from here on, four terms of Stirling's series are enough for double precision
_MANY = 1024  # below this, log k! is in a table


def to_fixed_point(number: str) -> int:
    """Return a decimal number in units of 1 / UNIT.

    >>> to_fixed_point("0.5") == UNIT // 2
    True
    """
    return int(Fraction(number) * UNIT)


def log1p(t: int) -> int:
    """Return log(1 + t) = 2 artanh(t / (2 + t)), t >= 0, both in units of 1 / UNIT.

    >>> log1p(UNIT) / UNIT
    0.6931471805599453
    """
    z = t * UNIT // (2 * UNIT + t)
    square = z * z // UNIT
    total, power, k = 0, z, 1
    while power:
        total += power // k
        power = power * square // UNIT
        k += 2
    return 2 * total


def _tables() -> tuple[np.ndarray, np.ndarray]:
    """Return log k! and the error of Stirling's formula, for k below `_MANY`."""
    constant, log, log_factorial = to_fixed_point(_HALF_LOG_2_PI), 0, 0
    log_factorials, errors = [0.0], [0.0]
    for k in range(1, _MANY):
        log += log1p(UNIT // (k - 1)) if k > 1 else 0
        log_factorial += log
        log_factorials.append(log_factorial / UNIT)
        errors.append((log_factorial - (k * log + log // 2 - k * UNIT + constant)) / UNIT)
    return np.array(log_factorials), np.array(errors)


_LOG_FACTORIALS, _ERRORS = _tables()


@inline_kernel
def stirling_error(k: int) -> float:
    """Return log k! minus Stirling's (k + 1/2) log k - k + log(2π) / 2, and 0 for k = 0."""
    if k < _FEW:
        return float(_ERRORS[k])
    square = 1.0 / (float(k) * k)
    return (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680))) / k


@inline_kernel
def log_factorial(k: int) -> float:
    """Return log k!."""
    if k < _MANY:
        return float(_LOG_FACTORIALS[k])
    square = 1.0 / (float(k) * k)
    return (k + 0.5) * math.log(k) - k + 0.5 * _LOG_2_PI + (1 / 12 - square / 360) / k


@kernel
def binomial_surprise(k: int, n: int, p: float) -> float:
    """Return -log P(Bin(n, p) = k), 0 < p < 1 (Loader, 2000)."""
    if k == n:
        return -n * math.log(p)
    if k == 0:
        return -n * math.log1p(-p)
    ones, zeros = float(k), float(n - k)
    divergence = ones * math.log(ones / (n * p)) + zeros * math.log(zeros / (n * (1.0 - p)))
    errors = stirling_error(k) + stirling_error(n - k) - stirling_error(n)
    return divergence + 0.5 * (_LOG_2_PI + math.log(ones * zeros / n)) + errors


@inline_kernel
def poisson_surprise(k: int, mean: float) -> float:
    """Return -log P(Poisson(mean) = k), mean > 0 (Loader, 2000)."""
    if k == 0:
        return mean
    divergence = k * math.log(k / mean) + mean - k
    return divergence + 0.5 * (_LOG_2_PI + math.log(k)) + stirling_error(k)


@kernel
def gamma_error(z: float) -> float:
    """Return log Γ(z) minus Stirling's (z - 1/2) log z - z + log(2π) / 2, z > 0."""
    if z < _FEW:
        if z == math.floor(z):  # log Γ(z) is log z! - log z, and so is Stirling's
            return float(_ERRORS[int(z)])
        return math.lgamma(z) - (z - 0.5) * math.log(z) + z - 0.5 * _LOG_2_PI
    square = 1.0 / (z * z)
    return (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680))) / z
