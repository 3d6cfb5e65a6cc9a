"""The probability of each arm to have the highest beta draw among those left, slot after slot.

The slots of a ranking are filled one after the other, each from the arms that the ones before it
have left. Densities and distribution functions of all arms at the nodes of panels, as in
`densities.py`, are worked out once. A slot then only multiplies the distribution functions F of the
arms left to P, and sums f / F of each of them times P.
"""

from typing import Any, NamedTuple

import numpy as np

from giro.compiling import bind, dispatched_call, kernel
from giro.kernels.highest.densities import (
    NEGLIGIBLE,
    NODES,
    WEIGHT,
    bumps_above,
    coordinates,
    end_of_panel,
    integrate,
    put_density,
    rough_low,
    sure_low,
)
from giro.kernels.highest.probabilities import normalised

_PANELS = 32  # there is room for at first
_TINY = 1e-280
_ENOUGH = 1e-13  # probability of a highest value below all panels


@dispatched_call
def chances_left(race: Any, left: np.ndarray) -> np.ndarray:
    """Return the probability [j] of the arm at each place that is left.

    Empty if the race does not go far enough down: more arms are gone than it has slots.
    """
    raise TypeError("replaced by dispatch")


class Race(NamedTuple):
    """The arms at the nodes of all panels, from the highest panel down."""

    row: np.ndarray  # [i] row of the arm in the table, -1 if it is too low to count
    table: np.ndarray  # [panel, side, row, q] F, and f / F times the weight of the node
    product: np.ndarray  # [panel, q] of F of all arms


@kernel
def beta_race(alpha: np.ndarray, beta: np.ndarray, slots: int) -> Race:
    """Return the race for so many slots, of arms with Beta(alpha, beta) draws."""
    floor = _floor(alpha, beta, slots)
    bumps, arms = bumps_above(alpha, beta, floor)
    k, row, top, panels = arms.size, np.full(alpha.size, -1), -np.inf, 0
    for i in range(k):
        row[arms[i]], top = i, max(top, bumps.high[i])
    table, product = np.empty((_PANELS, 2, k, NODES)), np.ones((_PANELS, NODES))
    at, density, up_to = np.empty((2, NODES)), np.zeros((k, NODES)), np.ones((k, NODES))
    while top > floor and _none_above(up_to, slots) > NEGLIGIBLE:
        if panels == table.shape[0]:
            table = np.concatenate((table, table))
            product = np.concatenate((product, np.ones(product.shape)))
        low = end_of_panel(bumps, top, floor)
        coordinates(bumps, low, top - low, at)
        for i in range(k):
            if bumps.high[i] > low:
                put_density(bumps, i, low, top - low, at, density[i])
                integrate(density[i], up_to[i])
        _note(density, up_to, table[panels], product[panels])
        top, panels = low, panels + 1
    return Race(row, table[:panels], product[:panels])


@kernel
def _note(density: np.ndarray, up_to: np.ndarray, table: np.ndarray, product: np.ndarray) -> None:
    """Write a panel into the race's tables."""
    for i in range(density.shape[0]):
        for q in range(NODES):
            table[0, i, q] = up_to[i, q]
            table[1, i, q] = WEIGHT[q] * density[i, q] / up_to[i, q]
            product[q] *= up_to[i, q]


@kernel
def _floor(alpha: np.ndarray, beta: np.ndarray, slots: int) -> float:
    """Return a value of t that as many arms as there are slots reach almost surely."""
    rough, floor = np.empty(alpha.size), np.inf
    for arm in range(alpha.size):
        rough[arm] = -rough_low(alpha[arm], beta[arm])
    for arm in _lowest(rough, slots):
        floor = min(floor, sure_low(alpha[arm], beta[arm]))
    return floor


@kernel
def _none_above(up_to: np.ndarray, slots: int) -> float:
    """Return the probability that all arms are below the last panel, but those of other slots."""
    ends, product = up_to[:, 0].copy(), 1.0
    ends[_lowest(ends, slots - 1)] = 1.0
    for end in ends:
        product *= end
    return product


@kernel
def _lowest(values: np.ndarray, n: int) -> np.ndarray:
    """Return the places of the n lowest values, or of all if these are fewer."""
    places, size = np.empty(n + 1, np.int64), 0
    for i in range(values.size if n > 0 else 0):
        if size < n or values[i] < values[places[n - 1]]:
            j = size
            while j > 0 and values[places[j - 1]] > values[i]:
                places[j] = places[j - 1]
                j -= 1
            places[j], size = i, min(size + 1, n)
    return places[:size]


@kernel
def _chances_left(race: Race, left: np.ndarray) -> np.ndarray:
    chances, product = np.zeros(left.size), np.empty(race.product.shape)
    panels = _put_products(race, left, product)
    if panels == 0:
        return np.empty(0)
    sums = np.empty(NODES)
    for j in range(left.size):
        row = race.row[left[j]]
        if row >= 0:
            sums[:] = 0.0
            for panel in range(panels):
                for q in range(NODES):
                    sums[q] += race.table[panel, 1, row, q] * product[panel, q]
            for q in range(NODES):
                chances[j] += sums[q]
    return normalised(chances)


@kernel
def _put_products(race: Race, left: np.ndarray, out: np.ndarray) -> int:
    """Write the product of F of the arms left, [panel, q], and return how many panels matter.

    None if they do not go far enough down.
    """
    is_left = np.zeros(race.row.size, np.bool_)
    is_left[left] = True
    for panel in range(out.shape[0]):
        divides = race.product[panel, 0] > _TINY  # nothing was rounded to 0
        for q in range(NODES):
            out[panel, q] = race.product[panel, q] if divides else 1.0
        for place in range(is_left.size):
            row = race.row[place]
            if row >= 0 and is_left[place] != divides:
                for q in range(NODES):
                    factor = race.table[panel, 0, row, q]
                    out[panel, q] *= 1.0 / factor if divides else factor
        if out[panel, 0] <= NEGLIGIBLE:
            return panel + 1
    return out.shape[0] if out[-1, 0] <= _ENOUGH else 0


bind(chances_left, Race, _chances_left)
