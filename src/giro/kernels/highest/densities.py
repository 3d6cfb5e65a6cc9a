"""The probability of each arm to have the highest value, where values have smooth densities.

The line is divided into panels, from the highest value that matters down, narrow near the middle of
any narrow density, and

    P(arm j is highest) = integral of f_j P / F_j, P being the product of all F_i,

is summed by Gauss's rule in each of them. The distribution functions F_i are one minus integrals of
the same kind: the polynomial through the nodes of a panel, integrated from each node up. All that
is lower than a value to which P is negligible is left out.

*Densities* are a named tuple with, among others, `high` [arm], above which an arm's density is
negligible, and `middle` and `scale` of all that bends near its middle, the densities first; and
answers to `_coordinates` and `_put_density`. There are two, of normal and of beta draws. With
X_i ~ Beta(α_i, β_i) and t = log(x / (1 - x)), the density of arm i over t is, relative to that at
r, exp(α d - (α + β) s), d = t - r, s = log(1 + p (e^d - 1)), p = 1 / (1 + e^-r): a smooth bump that
falls off exponentially on both sides of log(α / β), whatever α and β.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from giro.compiling import bind, dispatched, inline_kernel, kernel
from giro.kernels.draws.logarithms import gamma_error
from giro.kernels.highest.probabilities import argmax_probabilities

_NODES = 16  # in each panel
_NEGLIGIBLE = 1e-16  # probability that the highest value is lower than what was looked at
_NARROWEST = 1e-15  # width of a panel, relative to where it is: the least that gets on
_ZERO = 1e-300  # in place of a probability that is none


@dispatched
def _coordinates(densities: Any, low: float, width: float, out: np.ndarray) -> None:
    """Write what densities at the nodes of a panel follow from into out[node]."""
    raise TypeError("replaced by dispatch")


@dispatched
def _put_density(densities: Any, arm: int, low: float, at: np.ndarray, out: np.ndarray) -> None:
    """Write the arm's density at the nodes of the panel into out[node], given `_coordinates`."""
    raise TypeError("replaced by dispatch")


def _rule() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Gauss's nodes and weights on [0, 1], and of [r, q] node r from node q up to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    powers = np.polynomial.legendre.legvander(nodes, _NODES - 1)  # [r, degree]
    through = np.linalg.inv(powers)  # [degree, r] Legendre series through 1 at node r, 0 elsewhere
    integrals = np.polynomial.legendre.legint(through, lbnd=1.0)
    from_node = -np.polynomial.legendre.legval(nodes, integrals)  # [r, q]
    return (nodes + 1.0) / 2.0, weights / 2.0, np.ascontiguousarray(from_node) / 2.0


_NODE, _WEIGHT, _FROM_NODE = _rule()


@kernel
def _highest_probabilities(densities: Any, floor: float) -> np.ndarray:
    """Return the probability [arm] of the highest value, which is above `floor` almost surely.

    Costs about 16 exponentials an arm and panel.
    """
    n_arms = densities.high.size
    above, chances = np.zeros(n_arms), np.zeros(n_arms)  # above: mass over all panels so far
    density, up_to = np.empty((n_arms, _NODES)), np.empty((n_arms, _NODES))
    in_play, at, product = np.empty(n_arms, np.int64), np.empty((_NODES, 2)), np.empty(_NODES)
    top, rest = densities.high.max(), 1.0
    while top > floor and rest > _NEGLIGIBLE:
        width = min(max(_width(densities, top), _NARROWEST * abs(top)), top - floor)
        low, n = top - width, 0
        width = top - low  # as it was rounded
        _coordinates(densities, low, width, at)
        product[:], rest = 1.0, 1.0
        for arm in range(n_arms):
            if densities.high[arm] > low:
                _put_density(densities, arm, low, at, density[n])
                above[arm] += _integrate(density[n], width, above[arm], up_to[n])
                for q in range(_NODES):
                    product[q] *= up_to[n, q]
                rest *= max(1.0 - above[arm], 0.0)
                in_play[n] = arm
                n += 1
        for i in range(n):
            chance = 0.0
            for q in range(_NODES):
                chance += _WEIGHT[q] * density[i, q] * (product[q] / up_to[i, q])
            chances[in_play[i]] += width * chance
        top = low
    return np.asarray(chances / chances.sum())


@kernel
def _width(densities: Any, top: float) -> float:
    """Return the width of the panel below `top`."""
    width = np.inf
    for i in range(densities.middle.size):
        width = min(width, max(densities.scale[i], 0.5 * abs(top - densities.middle[i])))
    return width


@kernel
def _integrate(density: np.ndarray, width: float, above: float, up_to: np.ndarray) -> float:
    """Fill in the probability of values up to each node; return that of the panel."""
    mass = 0.0
    up_to[:] = 0.0
    for r in range(_NODES):
        mass += _WEIGHT[r] * density[r]
        for q in range(_NODES):
            up_to[q] += _FROM_NODE[r, q] * density[r]
    for q in range(_NODES):
        up_to[q] = max(1.0 - above - width * up_to[q], _ZERO)
    return width * mass


# -- normal draws ------------------------------------------------------------------------------

_REACH = 9.0  # deviations beyond which a tail is < 1e-18
_LEAST_DEVIATION = 1e-13  # relative to the largest
_PEAK = 1.0 / math.sqrt(2.0 * math.pi)


class _Normals(NamedTuple):
    """The arms' densities."""

    middle: np.ndarray  # [arm] mean
    scale: np.ndarray  # [arm] deviation
    high: np.ndarray  # [arm] the density is negligible above this


@kernel
def normal_argmax_probabilities(means: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """Return the probability [arm] that the arm's value is the highest.

    The error is below 1e-12. If all deviations are zero, the highest means share; where some are
    much smaller than others they are taken as 1e-13 of these.
    """
    if not deviations.max() > 0.0:
        return argmax_probabilities(means, np.empty(0))
    means = means - means.max()  # near 0, where numbers are dense
    deviations = np.maximum(deviations, _LEAST_DEVIATION * max(-means.min(), deviations.max()))
    densities = _Normals(means, deviations, means + _REACH * deviations)
    return _highest_probabilities(densities, (means - _REACH * deviations).max())


@kernel
def _normal_coordinates(densities: _Normals, low: float, width: float, out: np.ndarray) -> None:
    for node in range(_NODES):
        out[node, 0] = width * _NODE[node]


@kernel
def _put_normal_density(
    densities: _Normals, arm: int, low: float, at: np.ndarray, out: np.ndarray
) -> None:
    start, steepness = (
        (low - densities.middle[arm]) / densities.scale[arm],
        1.0 / densities.scale[arm],
    )
    for node in range(_NODES):
        z = start + at[node, 0] * steepness
        out[node] = _PEAK * steepness * math.exp(-0.5 * z * z)


bind(_coordinates, _Normals, _normal_coordinates)
bind(_put_density, _Normals, _put_normal_density)


# -- beta draws --------------------------------------------------------------------------------

_NEGLIGIBLE_LOG = -43.0  # log of a density, relative to its highest, that is left out
_LEAST_VARIANCE = 1e-14  # variance of a bump: rounding hides what is narrower
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
    densities = _Bumps(
        np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.zeros(n + 1), np.full(n + 1, 2.0)
    )
    for arm in range(n):
        shrink = min(1.0, (1.0 / alpha[arm] + 1.0 / beta[arm]) / _LEAST_VARIANCE)
        a, b = shrink * alpha[arm], shrink * beta[arm]
        densities.alpha[arm], densities.beta[arm] = a, b
        middle, scale = math.log(a / b), math.sqrt(1.0 / a + 1.0 / b)
        errors = gamma_error(a + b) - gamma_error(a) - gamma_error(b)
        densities.peak[arm] = 0.5 * math.log(a / (a + b) * b / (2.0 * math.pi)) + errors
        densities.middle[arm], densities.scale[arm] = middle, min(scale, _WIDEST)
        densities.high[arm] = middle + _reach(a, b, scale)
        if floor < middle and _relative(a, b, floor - middle) < _NEGLIGIBLE_LOG:
            floor = middle - _reach(b, a, scale)
    return _highest_probabilities(densities, floor)


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
    while _relative(alpha, beta, d) > _NEGLIGIBLE_LOG:
        d *= 1.3
    return d


@kernel
def _bump_coordinates(densities: _Bumps, low: float, width: float, out: np.ndarray) -> None:
    """Write d and s of each node, r being the lower end of the panel."""
    odds = math.exp(-abs(low))
    share = odds / (1.0 + odds)  # p, or 1 - p if r > 0
    for node in range(_NODES):
        d = width * _NODE[node]
        if low > 0.0:
            s = d + math.log1p(share * math.expm1(-d))
        elif d < _FAR:
            s = math.log1p(share * math.expm1(d))
        else:  # e^d may overflow
            s = math.log1p(math.exp(low + d) / (1.0 + odds))
        out[node, 0], out[node, 1] = d, s


@kernel
def _put_bump_density(
    densities: _Bumps, arm: int, low: float, at: np.ndarray, out: np.ndarray
) -> None:
    alpha, both = densities.alpha[arm], densities.alpha[arm] + densities.beta[arm]
    start = densities.peak[arm] + _relative(alpha, densities.beta[arm], low - densities.middle[arm])
    for node in range(_NODES):
        out[node] = math.exp(start + alpha * at[node, 0] - both * at[node, 1])


bind(_coordinates, _Bumps, _bump_coordinates)
bind(_put_density, _Bumps, _put_bump_density)
