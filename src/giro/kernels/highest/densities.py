"""The probability of each arm to have the highest value, where values have smooth densities.

The line is divided into panels, from the highest value that matters down, narrow near the middle of
any narrow density, and

    P(arm j is highest) = integral of f_j P / F_j, P being the product of all F_i,

is summed by Gauss's rule in each of them. The distribution functions F_i are one minus integrals of
the same kind: the polynomial through the nodes of a panel, integrated from each node up. All that
is lower than a value to which P is negligible is left out.

A *law* is a named tuple that holds, among others, `high` [arm], above which an arm's density is
negligible, and `middle` and `scale` of all that bends near its middle, the densities first; and
answers to `coordinates` and `put_density`.
"""

from typing import Any

import numpy as np

from giro.compiling import dispatched, kernel

NODES = 16  # in each panel
_NEGLIGIBLE = 1e-16  # probability that the highest value is lower than what was looked at
_LEAST = 1e-15  # width of a panel, relative to where it is: the least that gets on
_ZERO = 1e-300  # in place of a probability that is none


@dispatched
def coordinates(law: Any, low: float, width: float, out: np.ndarray) -> None:
    """Write what densities at the nodes of a panel follow from into out[node]."""
    raise TypeError("replaced by dispatch")


@dispatched
def put_density(law: Any, arm: int, low: float, at: np.ndarray, out: np.ndarray) -> None:
    """Write the arm's density at the nodes of the panel into out[node], given `coordinates`."""
    raise TypeError("replaced by dispatch")


def _rule() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Gauss's nodes and weights on [0, 1], and of [r, q] node r from node q up to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    powers = np.polynomial.legendre.legvander(nodes, NODES - 1)  # [r, degree]
    through = np.linalg.inv(powers)  # [degree, r] Legendre series through 1 at node r, 0 elsewhere
    integrals = np.polynomial.legendre.legint(through, lbnd=1.0)
    from_node = -np.polynomial.legendre.legval(nodes, integrals)  # [r, q]
    return (nodes + 1.0) / 2.0, weights / 2.0, np.ascontiguousarray(from_node) / 2.0


NODE, _WEIGHT, _FROM_NODE = _rule()


@kernel
def highest_probabilities(law: Any, floor: float) -> np.ndarray:
    """Return the probability [arm] of the highest value, which is above `floor` almost surely.

    Costs about 16 exponentials an arm and panel.
    """
    n_arms = law.high.size
    above, chances = np.zeros(n_arms), np.zeros(n_arms)  # above: mass over all panels so far
    density, up_to = np.empty((n_arms, NODES)), np.empty((n_arms, NODES))
    in_play, at, product = np.empty(n_arms, np.int64), np.empty((NODES, 2)), np.empty(NODES)
    top, rest = law.high.max(), 1.0
    while top > floor and rest > _NEGLIGIBLE:
        width = min(max(_width(law, top), _LEAST * abs(top)), top - floor)
        low, n = top - width, 0
        width = top - low  # as it was rounded
        coordinates(law, low, width, at)
        product[:], rest = 1.0, 1.0
        for arm in range(n_arms):
            if law.high[arm] > low:
                put_density(law, arm, low, at, density[n])
                above[arm] += _integrate(density[n], width, above[arm], up_to[n])
                for q in range(NODES):
                    product[q] *= up_to[n, q]
                rest *= max(1.0 - above[arm], 0.0)
                in_play[n] = arm
                n += 1
        for i in range(n):
            chance = 0.0
            for q in range(NODES):
                chance += _WEIGHT[q] * density[i, q] * (product[q] / up_to[i, q])
            chances[in_play[i]] += width * chance
        top = low
    return np.asarray(chances / chances.sum())


@kernel
def _width(law: Any, top: float) -> float:
    """Return the width of the panel below `top`."""
    width = np.inf
    for i in range(law.middle.size):
        width = min(width, max(law.scale[i], 0.5 * abs(top - law.middle[i])))
    return width


@kernel
def _integrate(density: np.ndarray, width: float, above: float, up_to: np.ndarray) -> float:
    """Fill in the probability of values up to each node; return that of the panel."""
    mass = 0.0
    up_to[:] = 0.0
    for r in range(NODES):
        mass += _WEIGHT[r] * density[r]
        for q in range(NODES):
            up_to[q] += _FROM_NODE[r, q] * density[r]
    for q in range(NODES):
        up_to[q] = max(1.0 - above - width * up_to[q], _ZERO)
    return width * mass
