"""The probability of each arm to have the highest of independent beta draws.

With X_i ~ Beta(α_i, β_i) and t = log(x / (1 - x)), the density of arm i over t is, relative to that
at r, exp(α d - (α + β) s), d = t - r, s = log(1 + p (e^d - 1)), p = 1 / (1 + e^-r): a smooth bump
that falls off exponentially on both sides of log(α / β), whatever α and β.
"""

import math
from typing import NamedTuple

import numpy as np

from giro.compiling import bind, inline_kernel, kernel
from giro.kernels.draws.stirling import gamma_error
from giro.kernels.highest.densities import (
    NODE,
    NODES,
    coordinates,
    highest_probabilities,
    put_density,
)

_NEGLIGIBLE = -43.0  # log of a density, relative to its highest, that is left out
_LEAST = 1e-14  # variance of a bump: rounding hides what is narrower
_FAR = 40.0  # e^d and e^d - 1 are the same from here on
_WIDEST = 1.5  # scale of a bump at most: the integrands have poles 3.14 off the line


class _Bumps(NamedTuple):
    """The arms' densities over t."""

    alpha: np.ndarray  # [arm]
    beta: np.ndarray  # [arm]
    peak: np.ndarray  # [arm] log of the highest density
    high: np.ndarray  # [arm] the density is negligible above this
    middle: np.ndarray  # [arm] t at the highest density; and 0, where d and s bend
    scale: np.ndarray  # [arm] about its standard deviation, _WIDEST at most; and 2


@kernel
def beta_argmax_probabilities(alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Return the probability [arm] that the arm's Beta(alpha, beta) draw is the highest.

    The error is below 1e-9 for any positive parameters up to 1e7; larger ones than 1e14 are taken
    as that, with the same mean.
    """
    n, floor = alpha.size, -np.inf
    law = _Bumps(
        np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.zeros(n + 1), np.full(n + 1, 2.0)
    )
    for arm in range(n):
        shrink = min(1.0, (1.0 / alpha[arm] + 1.0 / beta[arm]) / _LEAST)
        a, b = shrink * alpha[arm], shrink * beta[arm]
        law.alpha[arm], law.beta[arm] = a, b
        middle, scale = math.log(a / b), math.sqrt(1.0 / a + 1.0 / b)
        errors = gamma_error(a + b) - gamma_error(a) - gamma_error(b)
        law.peak[arm] = 0.5 * math.log(a / (a + b) * b / (2.0 * math.pi)) + errors
        law.middle[arm], law.scale[arm] = middle, min(scale, _WIDEST)
        law.high[arm] = middle + _reach(a, b, scale)
        if floor < middle and _relative(a, b, floor - middle) < _NEGLIGIBLE:
            floor = middle - _reach(b, a, scale)
    return highest_probabilities(law, floor)


@inline_kernel
def _relative(alpha: float, beta: float, d: float) -> float:
    """Return the log of the density at a distance d from its middle, relative to its highest."""
    if d > 0.0:  # the mirror image, in which e^d does not overflow
        alpha, beta, d = beta, alpha, -d
    return alpha * d - (alpha + beta) * math.log1p(alpha / (alpha + beta) * math.expm1(d))


@kernel
def _reach(alpha: float, beta: float, scale: float) -> float:
    """Return a distance from the middle, to the right, at which the density is negligible."""
    d = 4.0 * scale
    while _relative(alpha, beta, d) > _NEGLIGIBLE:
        d *= 1.3
    return d


@kernel
def _coordinates(law: _Bumps, low: float, width: float, out: np.ndarray) -> None:
    """Write d and s of each node, r being the lower end of the panel."""
    odds = math.exp(-abs(low))
    share = odds / (1.0 + odds)  # p, or 1 - p if r > 0
    for node in range(NODES):
        d = width * NODE[node]
        if low > 0.0:
            s = d + math.log1p(share * math.expm1(-d))
        elif d < _FAR:
            s = math.log1p(share * math.expm1(d))
        else:  # e^d may overflow
            s = math.log1p(math.exp(low + d) / (1.0 + odds))
        out[node, 0], out[node, 1] = d, s


@kernel
def _put_density(law: _Bumps, arm: int, low: float, at: np.ndarray, out: np.ndarray) -> None:
    alpha, both = law.alpha[arm], law.alpha[arm] + law.beta[arm]
    start = law.peak[arm] + _relative(alpha, law.beta[arm], low - law.middle[arm])
    for node in range(NODES):
        out[node] = math.exp(start + alpha * at[node, 0] - both * at[node, 1])


bind(coordinates, _Bumps, _coordinates)
bind(put_density, _Bumps, _put_density)
