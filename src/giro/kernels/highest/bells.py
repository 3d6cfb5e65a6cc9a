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
from typing import NamedTuple

import numpy as np

from giro.compiling import borrowed, kernel
from giro.kernels.highest.densities import (
    NODE,
    NODES,
    WEIGHT,
    exponentiate,
    integrate,
    series,
    sum_of_rows,
)
from giro.kernels.highest.lattices import Queue, award_next, award_until, deviance, next_point
from giro.kernels.highest.probabilities import Standing

_NEGLIGIBLE = 1e-16  # probability that the highest value is lower than what was looked at
_STIRLING = (1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0)  # enough for numbers above 26
_MANY = 30  # arms, the product of whose distribution functions bends more
_SPLIT = 0.75  # width of a panel then, and of one with points, where polynomials are cut
_SHARED = 6  # numbers that the densities at a node depend on
_BELL = np.dtype(
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
BELL = np.dtype((np.record, _BELL))  # in plain Python fields are attributes, too
_SERIES = series()  # [degree, q] of the integral from 0 of the polynomial that is 1 at node q


class _Panel(NamedTuple):
    """The arms with bells in one panel, row by row."""

    density: np.ndarray  # [row, q] times the panel's width
    up_to: np.ndarray  # [row, q] probability of lower values
    product: np.ndarray  # [q] of all arms' probabilities of lower values
    weight: np.ndarray  # [q] of a node, which counts what other arms do not take
    chances: np.ndarray  # [row, q] of having the highest value, in all panels so far


@kernel
def race(
    standing: Standing, bells: np.ndarray, queue: Queue, ranking: np.ndarray, floor: float
) -> int:
    """Award all values above the floor to bells and lattices, and return the number of panels."""
    standing, queue = borrowed(standing), borrowed(queue)
    size, panels, top = (bells[bells.size - 1].row + 1, NODES), 0, -np.inf
    ones, weight, shared = np.ones(NODES), np.empty(NODES), np.empty((_SHARED, NODES))
    panel = _Panel(np.zeros(size), np.ones(size), ones, weight, np.zeros(size))
    for bell in bells:
        top = max(top, bell.high)
    award_until(standing, queue, ranking, top)
    while top > floor and panel.product[0] * standing.none_above[0] > _NEGLIGIBLE:
        is_smooth = next_point(queue) == -np.inf and size[0] <= _MANY
        low = max(top - _width(bells, top) * (1.0 if is_smooth else _SPLIT), floor)
        _put_shared(low, top - low, shared)
        _enter(panel, bells, low, shared)
        _award_points(standing, queue, ranking, panel, low, top - low)
        for row in range(size[0]):
            for q in range(NODES):
                others = panel.product[q] / panel.up_to[row, q]
                panel.chances[row, q] += panel.weight[q] * panel.density[row, q] * others
        top, panels = low, panels + 1
    chances, row = sum_of_rows(panel.chances), -1
    for bell in bells:
        if bell.row > row:
            row = bell.row
            standing.chances[bell.owner] += chances[row]
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
    """Write the numbers that all densities at the nodes of a panel depend on."""
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
def _enter(panel: _Panel, bells: np.ndarray, low: float, shared: np.ndarray) -> None:
    """Write densities and distribution functions at the nodes of the panel from `low` on."""
    density, up_to, at = panel.density, panel.up_to, np.empty(NODES)
    density[:], panel.product[:] = 0.0, 1.0
    for bell in bells:
        if bell.high > low:
            _put_exponents(bell.n, bell.p, low, shared, at)
            r = 1.0 / bell.n
            error = r * (_STIRLING[0] + r * r * (_STIRLING[1] + r * r * _STIRLING[2]))
            exponentiate(at, bell.weight * math.sqrt(bell.n) * math.exp(error))
            for q in range(NODES):
                density[bell.row, q] += shared[2, q] * at[q]
    for row in range(density.shape[0]):
        integrate(density[row], up_to[row])
        for q in range(NODES):
            panel.product[q] *= up_to[row, q]


@kernel
def _put_exponents(n: float, p: float, low: float, shared: np.ndarray, out: np.ndarray) -> None:
    """Write -n d(x, p) - e(n x) - e(n (1 - x)) of the nodes."""
    start = deviance(low, p) + deviance(1.0 - low, 1.0 - p)
    slope, r = math.log1p((low - p) / p) - math.log1p((p - low) / (1.0 - p)), 1.0 / n
    r3, r5 = r * r * r, r * r * r * r * r
    for q in range(NODES):
        divergence = start + slope * shared[0, q] + shared[1, q]
        out[q] = -n * divergence - (r * shared[3, q] + r3 * shared[4, q] + r5 * shared[5, q])


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
        before, legendre = (
            legendre,
            ((2 * degree - 1) * z * legendre - (degree - 1) * before) / degree,
        )
        for q in range(NODES):
            out[q] += _SERIES[degree, q] * legendre


@kernel
def _award_points(
    standing: Standing,
    queue: Queue,
    ranking: np.ndarray,
    panel: _Panel,
    low: float,
    width: float,
) -> None:
    """Award the points of other arms in a panel, and write the weights of its nodes.

    These lose what a point takes away from all that is below it.
    """
    density, integrals, weight = panel.density, np.empty(NODES), panel.weight
    for q in range(NODES):
        weight[q] = standing.none_above[0] * WEIGHT[q]
    while next_point(queue) >= low:
        _put_integrals((next_point(queue) - low) / width, integrals)
        below, above = 1.0, standing.none_above[0]
        for row in range(density.shape[0]):
            mass = panel.up_to[row, 0]
            for q in range(NODES):
                mass += density[row, q] * integrals[q]
            below *= mass
        if not below * above > _NEGLIGIBLE:
            break
        standing.none_above[0] = above * below
        award_next(standing, queue, ranking)
        standing.none_above[0] /= below
        for q in range(NODES):
            weight[q] -= (above - standing.none_above[0]) * integrals[q]
