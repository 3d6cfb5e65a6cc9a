"""Bells: continuous binomial values, and the race of several of them between points of others.

The density of the continuous binomial at any real number s from 0 to n is what the probability of
the binomial is at whole ones,

    f(s) = Γ(n + 1) / (Γ(s + 1) Γ(n - s + 1)) p^s (1 - p)^(n - s).

By Poisson's summation its integral, its mean and its variance are those of the binomial, to the
last digit where n p (1 - p) is above some ten. With x = s / n, Kullback's and Leibler's divergence
d(x, p), and e(z) = 1 / (12 z) - 1 / (360 z³) + ..., the error of Stirling's formula, that of x is

    sqrt(n / (2 π x (1 - x))) exp(-n d(x, p) + e(n) - e(n x) - e(n (1 - x))).

For a panel of values that begins at y, as in `densities.py`,

    d(x, p) = d(y, p) + (logit y - logit p) (x - y) + d(x, y),

so all arms share the d(x, y), and what e(n x) and e(n (1 - x)) have beside powers of n. No term is
larger than what it adds to the exponent.

Other arms can have points, see `lattices.py`. In a panel with points their distribution function
falls at each, so the arms' densities there, which are polynomials through the nodes, are integrated
from point to point.
"""

import math

import numpy as np

from giro.compiling import borrowed, inline_kernel, kernel
from giro.kernels.highest.densities import NODE, NODES, WEIGHT, exponentiate, integrate, series
from giro.kernels.highest.lattices import Queue, award_next, award_until, deviance, next_point
from giro.kernels.highest.probabilities import Standing

_NEGLIGIBLE = 1e-16  # probability that the highest value is lower than what was looked at
_STIRLING = (1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0)  # enough for numbers above 26
_SPLIT = 0.75  # width of a panel that may have points: its polynomials are cut there
_SHARED = 6  # numbers that the densities at a node depend on
BELL = np.dtype(
    [
        ("row", np.int64),  # of its arm among those with bells; an arm can have two, one by one
        ("owner", np.int64),  # place of the arm in the offer
        ("weight", np.float64),  # probability that the arm's value is from this one
        ("n", np.float64),
        ("p", np.float64),
        ("scale", np.float64),  # standard deviation
        ("high", np.float64),  # the density is negligible above this
    ],
    align=True,
)
_SERIES = series()  # [degree, q] of the integral from 0 of the polynomial that is 1 at node q


@kernel
def race(
    standing: Standing,
    bells: np.ndarray,
    queue: Queue,
    ranking: np.ndarray,
    floor: float,
) -> int:
    """Award all values above the floor to bells and lattices, and return the number of panels."""
    standing, queue = borrowed(standing), borrowed(queue)
    rows, panels, top = bells[bells.size - 1].row + 1, 0, -np.inf
    density, chances = np.zeros((rows, NODES)), np.zeros((rows, NODES))
    up_to, shared = np.ones((rows, NODES)), np.empty((_SHARED, NODES))
    product, weight, at = np.ones(NODES), np.empty(NODES), np.empty(NODES)
    for bell in range(bells.size):
        top = max(top, bells[bell].high)
    award_until(standing, queue, ranking, top)
    while top > floor and product[0] * standing.none_above[0] > _NEGLIGIBLE:
        width = _width(bells, top) * (1.0 if next_point(queue) == -np.inf else _SPLIT)
        low = max(top - width, floor)
        _put_shared(low, top - low, shared)
        _put_densities(bells, low, shared, at, density)
        product[:] = 1.0
        for row in range(rows):
            integrate(density[row], up_to[row])
            for q in range(NODES):
                product[q] *= up_to[row, q]
        begin, weight[:] = standing.none_above[0], 0.0
        while next_point(queue) >= low:
            _put_integrals((next_point(queue) - low) / (top - low), at)
            if not _award_point(standing, queue, ranking, density, up_to, at, weight):
                break
        for q in range(NODES):
            weight[q] += begin * WEIGHT[q]
        for row in range(rows):
            for q in range(NODES):
                chances[row, q] += weight[q] * density[row, q] * (product[q] / up_to[row, q])
        top, panels = low, panels + 1
    for bell in range(bells.size):
        for q in range(NODES):
            standing.chances[bells[bell].owner] += chances[bells[bell].row, q]
        chances[bells[bell].row] = 0.0
    return panels


@kernel
def _width(bells: np.ndarray, top: float) -> float:
    """Return the width of the panel below `top`."""
    width = np.inf
    for i in range(bells.size):
        width = min(width, max(2.0 * bells[i].scale, 0.6 * abs(top - bells[i].p)))
    return width


@kernel
def _put_shared(low: float, width: float, out: np.ndarray) -> None:
    """Write what the densities at the nodes of a panel depend on."""
    for node in range(NODES):
        x = low + width * NODE[node]
        z = 1.0 - x
        out[0, node] = width * NODE[node]
        out[1, node] = deviance(x, low) + deviance(z, 1.0 - low)
        out[2, node] = width / math.sqrt(2.0 * math.pi * x * z)
        a, b = 1.0 / x, 1.0 / z
        for j in range(len(_STIRLING)):
            out[3 + j, node] = _STIRLING[j] * (a + b)
            a, b = a / (x * x), b / (z * z)


@kernel
def _put_densities(
    bells: np.ndarray, low: float, shared: np.ndarray, at: np.ndarray, out: np.ndarray
) -> None:
    """Write the density of each arm at the nodes of a panel, times its width, into out[row]."""
    out[:] = 0.0
    for i in range(bells.size):
        bell = bells[i]
        if bell.high <= low:
            continue
        n, p, row = bell.n, bell.p, bell.row
        start = deviance(low, p) + deviance(1.0 - low, 1.0 - p)
        slope = math.log1p((low - p) / p) - math.log1p((p - low) / (1.0 - p))
        r = 1.0 / n
        r3, r5 = r * r * r, r * r * r * r * r
        for q in range(NODES):
            divergence = start + slope * shared[0, q] + shared[1, q]
            at[q] = -n * divergence - (r * shared[3, q] + r3 * shared[4, q] + r5 * shared[5, q])
        error = r * _STIRLING[0] + r3 * _STIRLING[1] + r5 * _STIRLING[2]
        exponentiate(at, bell.weight * math.sqrt(n) * math.exp(error))
        for q in range(NODES):
            out[row, q] += shared[2, q] * at[q]


@kernel
def _put_integrals(u: float, out: np.ndarray) -> None:
    """Write, for each node, the integral up to u of the polynomial that is 1 there.

    It is a series of Legendre's polynomials, whose values follow from each other.
    """
    z = 2.0 * u - 1.0
    before, legendre = 1.0, z
    for q in range(NODES):
        out[q] = _SERIES[0, q] + _SERIES[1, q] * z
    for degree in range(2, NODES + 1):
        before, legendre = legendre, ((2 * degree - 1) * z * legendre - (degree - 1) * before) / degree
        for q in range(NODES):
            out[q] += _SERIES[degree, q] * legendre


@kernel
def _award_point(
    standing: Standing,
    queue: Queue,
    ranking: np.ndarray,
    density: np.ndarray,
    up_to: np.ndarray,
    integrals: np.ndarray,
    weight: np.ndarray,
) -> bool:
    """Award the next point, and return whether any below it matters.

    The panel's weights lose what the point takes away from all that is below it.
    """
    below, above = 1.0, standing.none_above[0]
    for row in range(density.shape[0]):
        mass = up_to[row, 0]
        for q in range(NODES):
            mass += density[row, q] * integrals[q]
        below *= mass
    if not below * above > _NEGLIGIBLE:
        return False
    standing.none_above[0] = above * below
    award_next(standing, queue, ranking)
    standing.none_above[0] /= below
    taken = above - standing.none_above[0]
    for q in range(NODES):
        weight[q] -= taken * integrals[q]
    return True
