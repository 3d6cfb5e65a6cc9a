"""The probability of each arm to have the highest value, where values have smooth densities.

The line is divided into panels, from the highest value that matters down, narrow near the middle of
any narrow density, and

    P(arm j is highest) = integral of f_j P / F_j, P being the product of all F_i,

is summed by the rule of Radau (1880) in each of them, Gauss's with the lower end as a node. The
distribution functions F_i come from integrals of the same kind: the polynomial through the nodes of
a panel, integrated from each node up. All that is lower than a value to which P is negligible is
left out, so a few panels are enough, however many rewards there are.

*Densities* are a named tuple with, among others, `height` and `high` [arm], the highest density and
above what it is negligible, and `middle` and `scale` of all that bends near its middle, the
densities first; and answers to `coordinates` and `_put_exponent`. There are two, of normal and of
beta draws. With X ~ Beta(α, β), n = α + β, p = α / n, t = log(x / (1 - x)) and the highest density
over t at r = log(α / β), the density of t is, relative to that,

    exp(-n B(p, t - r)),   B(p, d) = log(1 + p (e^d - 1)) - p d:

a smooth bump that falls off exponentially on both sides of r, whatever α and β. B(p, .) is the
cumulant function of a centred Bernoulli variable, convex, 0 at 0; with y = 1 / (1 + e^-s),

    B(p, s - r + d) = B(p, s - r) + (y - p) d + B(y, d),

so all arms share the B(y, d) of a panel that begins at s. No term is larger than what it adds to
the exponent: nothing cancels, and large α and β cost no digits.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from giro.compiling import bind, dispatched, inline_kernel, kernel
from giro.kernels.draws.logarithms import gamma_error
from giro.kernels.highest.probabilities import argmax_probabilities, normalised

NODES = 16  # in each panel
NEGLIGIBLE = 1e-16  # probability that the highest value is lower than what was looked at
_NARROWEST = 1e-15  # width of a panel, relative to where it is: the least that gets on
_ZERO = 1e-300  # in place of a probability that is none
_SMALLEST = -64.0  # exponent: what is less is taken as that
_SQUARINGS = 8  # e^z is the 256th power of e^(z / 256), of which Taylor's series is short
_TAYLOR = tuple(1.0 / math.factorial(k) for k in range(11, -1, -1))


@dispatched
def coordinates(densities: Any, low: float, width: float, out: np.ndarray) -> None:
    """Write the numbers that exponents at the nodes of a panel depend on into out[:, node]."""
    raise TypeError("replaced by dispatch")


@dispatched
def _put_exponent(densities: Any, arm: int, low: float, at: np.ndarray, out: np.ndarray) -> None:
    """Write the log of the arm's density, relative to its height, into out[node]."""
    raise TypeError("replaced by dispatch")


def series() -> np.ndarray:
    """Return [degree, q] of the integral from 0 of the polynomial that is 1 at node q, else 0.

    As a series of Legendre's polynomials on [0, 1].
    """
    legendre = np.polynomial.legendre
    through = np.linalg.inv(legendre.legvander(2.0 * NODE - 1.0, NODES - 1))
    return np.ascontiguousarray(legendre.legint(through, lbnd=-1.0)) / 2.0


def _rule() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Radau's nodes and weights on [0, 1], and of [r, q] node r from node q up to 1."""
    legendre = np.polynomial.legendre
    nodes = np.sort(legendre.legroots([0.0] * (NODES - 1) + [1.0, 1.0]))
    nodes[0] = -1.0
    powers = legendre.legvander(nodes, NODES - 1)  # [r, degree]
    through = np.linalg.inv(powers)  # [degree, r] Legendre series through 1 at node r, 0 elsewhere
    from_node = -legendre.legval(nodes, legendre.legint(through, lbnd=1.0))  # [r, q]
    weights = (1.0 - nodes) / (NODES * powers[:, -1]) ** 2
    return (nodes + 1.0) / 2.0, weights / 2.0, np.ascontiguousarray(from_node) / 2.0


NODE, WEIGHT, _FROM_NODE = _rule()


@kernel
def _highest_probabilities(densities: Any, floor: float) -> np.ndarray:
    """Return the probability [arm] of the highest value, which is above `floor` almost surely."""
    n_arms, top = densities.high.size, -np.inf
    up_to, density = np.ones((n_arms, NODES)), np.empty((n_arms, NODES))
    chances, at, product = np.zeros((n_arms, NODES)), np.empty((2, NODES)), np.ones(NODES)
    for high in densities.high:
        top = max(top, high)
    while top > floor and product[0] > NEGLIGIBLE:
        low = end_of_panel(densities, top, floor)
        width = top - low
        coordinates(densities, low, width, at)
        product[:] = 1.0
        for arm in range(n_arms):
            if densities.high[arm] > low:
                put_density(densities, arm, low, width, at, density[arm])
                integrate(density[arm], up_to[arm])
                for q in range(NODES):
                    product[q] *= up_to[arm, q]
        for arm in range(n_arms):
            if densities.high[arm] > low:
                for q in range(NODES):
                    share = WEIGHT[q] * density[arm, q]
                    chances[arm, q] += share * (product[q] / up_to[arm, q])
        top = low
    return normalised(sum_of_rows(chances))


@kernel
def sum_of_rows(table: np.ndarray) -> np.ndarray:
    """Return the sums of rows, one column after the other."""
    sums = np.zeros(table.shape[0])
    for row in range(table.shape[0]):
        for column in range(table.shape[1]):
            sums[row] += table[row, column]
    return sums


@inline_kernel
def put_density(
    densities: Any, arm: int, low: float, width: float, at: np.ndarray, out: np.ndarray
) -> None:
    """Write an arm's density at the nodes of a panel, times its width."""
    _put_exponent(densities, arm, low, at, out)
    exponentiate(out, width * densities.height[arm])


@kernel
def end_of_panel(densities: Any, top: float, floor: float) -> float:
    """Return the lower end of the panel below `top`."""
    width = np.inf
    for i in range(densities.middle.size):
        width = min(width, max(2.0 * densities.scale[i], 0.6 * abs(top - densities.middle[i])))
    return top - min(max(width, _NARROWEST * abs(top)), top - floor)


@inline_kernel
def exponentiate(exponents: np.ndarray, factor: float) -> None:
    """Replace exponents, 0 at most, by their exponentials times a factor, to 13 digits.

    In arithmetic alone, which is done for several of them at once.
    """
    for q in range(NODES):
        z = max(exponents[q], _SMALLEST) / 2.0**_SQUARINGS
        e = 0.0
        for coefficient in _TAYLOR:
            e = coefficient + z * e
        for _ in range(_SQUARINGS):
            e *= e
        exponents[q] = factor * e


@inline_kernel
def integrate(density: np.ndarray, up_to: np.ndarray) -> None:
    """Replace the probability of values up to the panel's top, up_to[0], by those to each node."""
    up_to[:], m = up_to[0], _FROM_NODE
    for r in range(0, NODES, 8):  # eight at once, in sums that do not wait for each other
        a, b, c, d = density[r], density[r + 1], density[r + 2], density[r + 3]
        e, f, g, h = density[r + 4], density[r + 5], density[r + 6], density[r + 7]
        for q in range(NODES):
            left = (m[r, q] * a + m[r + 1, q] * b) + (m[r + 2, q] * c + m[r + 3, q] * d)
            right = (m[r + 4, q] * e + m[r + 5, q] * f) + (m[r + 6, q] * g + m[r + 7, q] * h)
            up_to[q] -= left + right
    for q in range(NODES):
        up_to[q] = max(up_to[q], _ZERO)


# -- normal draws ------------------------------------------------------------------------------

_REACH = 9.0  # deviations beyond which a tail is < 1e-18
_LEAST_DEVIATION = 1e-13  # relative to the largest
_PEAK = 1.0 / math.sqrt(2.0 * math.pi)


class _Normals(NamedTuple):
    """The arms' densities."""

    middle: np.ndarray  # [arm] mean
    scale: np.ndarray  # [arm] deviation
    height: np.ndarray  # [arm] highest density
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
    densities = _Normals(means, deviations, _PEAK / deviations, means + _REACH * deviations)
    return _highest_probabilities(densities, (means - _REACH * deviations).max())


@kernel
def _normal_coordinates(densities: _Normals, low: float, width: float, out: np.ndarray) -> None:
    for node in range(NODES):
        out[0, node] = width * NODE[node]


@kernel
def _put_normal_exponent(
    densities: _Normals, arm: int, low: float, at: np.ndarray, out: np.ndarray
) -> None:
    steepness = 1.0 / densities.scale[arm]
    start = (low - densities.middle[arm]) * steepness
    for node in range(NODES):
        z = start + at[0, node] * steepness
        out[node] = -0.5 * z * z


bind(coordinates, _Normals, _normal_coordinates)
bind(_put_exponent, _Normals, _put_normal_exponent)


# -- beta draws --------------------------------------------------------------------------------

_NEGLIGIBLE_LOG = 43.0  # minus the log of a density, relative to its highest, that is left out
_LEAST_VARIANCE = 1e-14  # variance of a bump: rounding hides what is narrower
_SMALL = 0.02  # d below which six terms of the series of B(p, d) are enough
_FAR = 40.0  # e^d and e^d - 1 are the same from here on
_WIDEST, _BEND = 1.5, 1.2  # scale of a bump at most, and at 0: B has poles 3.14 off the line


class _Bumps(NamedTuple):
    """The arms' densities over t, but those of arms which are too low to count."""

    n: np.ndarray  # [i]
    p: np.ndarray  # [i]
    q: np.ndarray  # [i] 1 - p
    height: np.ndarray  # [i] highest density
    high: np.ndarray  # [i] the density is negligible above this
    middle: np.ndarray  # [i] t at the highest density; and 0, where B bends
    scale: np.ndarray  # [i] about its standard deviation, _WIDEST at most; and _BEND


@kernel
def beta_argmax_probabilities(alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Return the probability [arm] that the arm's Beta(alpha, beta) draw is the highest.

    The error is below 1e-12 for any positive parameters up to 1e7; larger ones than 1e14 are taken
    as that, with the same mean.
    """
    floor = _floor(alpha, beta)
    bumps, arms = bumps_above(alpha, beta, floor)
    law, chances = np.zeros(alpha.size), _highest_probabilities(bumps, floor)
    for i in range(arms.size):
        law[arms[i]] = chances[i]
    return law


@kernel
def bumps_above(alpha: np.ndarray, beta: np.ndarray, floor: float) -> tuple[_Bumps, np.ndarray]:
    """Return the bumps of arms that may exceed a floor, and which arms these are."""
    k, arms, counted = alpha.size, np.empty(alpha.size, np.int64), 0
    n, p, q = np.empty(k), np.empty(k), np.empty(k)
    height, high, middle, scale = np.empty(k), np.empty(k), np.empty(k + 1), np.empty(k + 1)
    for arm in range(k):
        (a, b), i = _shrunk(alpha[arm], beta[arm]), counted
        n[i], p[i], q[i], middle[i] = a + b, a / (a + b), b / (a + b), math.log(a / b)
        distance = floor - middle[i]
        if distance > 0.0 and n[i] * _bend(p[i], q[i], distance)[0] > _NEGLIGIBLE_LOG:
            continue
        errors = gamma_error(a + b) - gamma_error(a) - gamma_error(b)
        height[i] = math.sqrt(p[i] * b / (2.0 * math.pi)) * math.exp(errors)
        scale[i] = min(math.sqrt(1.0 / a + 1.0 / b), _WIDEST)
        high[i] = middle[i] + _reach(n[i], p[i], q[i])
        arms[i], counted = arm, counted + 1
    middle[counted], scale[counted] = 0.0, _BEND
    m = counted
    bumps = _Bumps(n[:m], p[:m], q[:m], height[:m], high[:m], middle[: m + 1], scale[: m + 1])
    return bumps, arms[:m]


@inline_kernel
def _shrunk(alpha: float, beta: float) -> tuple[float, float]:
    """Return parameters of the same mean that are no larger than rounding allows."""
    shrink = min(1.0, (1.0 / alpha + 1.0 / beta) / _LEAST_VARIANCE)
    return shrink * alpha, shrink * beta


@kernel
def _floor(alpha: np.ndarray, beta: np.ndarray) -> float:
    """Return a value that some arm reaches almost surely.

    The arm is one whose mean is high and whose density is narrow.
    """
    best, highest = 0, -np.inf
    for arm in range(alpha.size):
        low = rough_low(alpha[arm], beta[arm])
        if low > highest:
            best, highest = arm, low
    return sure_low(alpha[best], beta[best])


@inline_kernel
def rough_low(alpha: float, beta: float) -> float:
    """Return a value of x that a draw is hardly below: high where the mean is, and few deviate."""
    a, b = _shrunk(alpha, beta)
    return a / (a + b) - 6.0 * math.sqrt(a * b / (a + b)) / (a + b)


@inline_kernel
def sure_low(alpha: float, beta: float) -> float:
    """Return a value of t that a draw reaches almost surely."""
    a, b = _shrunk(alpha, beta)
    return math.log(a / b) - _reach(a + b, b / (a + b), a / (a + b))


@kernel
def _reach(n: float, p: float, q: float) -> float:
    """Return a distance to the right of the middle at which the density is negligible.

    From where a normal one is, by a step of Newton's method, which on a convex function ends where
    it is high enough.
    """
    d = math.sqrt(2.0 * _NEGLIGIBLE_LOG / (n * p * q))
    value, slope = _bend(p, q, d)
    return d - (value - _NEGLIGIBLE_LOG / n) / slope


@kernel
def _bend(p: float, q: float, d: float) -> tuple[float, float]:
    """Return B(p, d) and its derivative in d, to the last digits, given q = 1 - p."""
    c, sign = p * q, 1.0
    if abs(d) < _SMALL:  # the cumulants of a Bernoulli variable
        third, fourth, fifth = q - p, 1.0 - 6.0 * c, (q - p) * (1.0 - 12.0 * c)
        sixth = 1.0 - 30.0 * c * (1.0 - 4.0 * c)
        seventh = third * (1.0 - 60.0 * c * (1.0 - 6.0 * c))
        value = fifth / 120.0 + d * (sixth / 720.0 + d * seventh / 5040.0)
        slope = fifth / 24.0 + d * (sixth / 120.0 + d * seventh / 720.0)
        return (
            c * d * d * (0.5 + d * (third / 6.0 + d * (fourth / 24.0 + d * value))),
            c * d * (1.0 + d * (third / 2.0 + d * (fourth / 6.0 + d * slope))),
        )
    if p > q:  # the mirror image
        p, q, d, sign = q, p, -d, -1.0
    if d > _FAR:  # e^d may overflow, and 1 does not count beside it
        z = d + math.log(max(p, 1e-307))
        return max(z, 0.0) + math.log1p(math.exp(-abs(z))) - p * d, sign * q / (1.0 + math.exp(-z))
    more = math.exp(d) - 1.0 if abs(d) > 0.5 else math.expm1(d)  # whichever is quicker
    share = p * more
    value = math.log(1.0 + share) if abs(share) > 0.5 else math.log1p(share)
    return value - p * d, sign * c * more / (1.0 + share)


@kernel
def _bump_coordinates(bumps: _Bumps, low: float, width: float, out: np.ndarray) -> None:
    """Write d and B(y, d) of each node, y belonging to the lower end of the panel."""
    odds = math.exp(-abs(low))
    less, more = odds / (1.0 + odds), 1.0 / (1.0 + odds)
    y, z = (more, less) if low > 0.0 else (less, more)
    for node in range(NODES):
        out[0, node] = width * NODE[node]
        out[1, node] = _bend(y, z, out[0, node])[0]


@kernel
def _put_bump_exponent(
    bumps: _Bumps, arm: int, low: float, at: np.ndarray, out: np.ndarray
) -> None:
    n = bumps.n[arm]
    start, slope = _bend(bumps.p[arm], bumps.q[arm], low - bumps.middle[arm])
    for node in range(NODES):
        out[node] = -n * (start + slope * at[0, node] + at[1, node])


bind(coordinates, _Bumps, _bump_coordinates)
bind(_put_exponent, _Bumps, _put_bump_exponent)
