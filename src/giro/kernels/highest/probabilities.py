"""The probability of each arm to have the highest value, where values take a few known points.

All arms' points are taken in ascending order. Where one arm alone can be at x, it wins
there if all others are below. Where several can, and ties are drawn, the j-th of them gets the
expectation of 1 / (number of arms at x) on the event that none is above. With b_i the probability
that arm i is below x and m_i that it is at x,

    E[1 / (1 + N); others at x or below] = integral over u in [0, 1] of prod_{i != j} (b_i + m_i u),

a polynomial in u of degree less than the number of arms, which Gauss's rule integrates exactly.
"""

import functools
from typing import NamedTuple

import numpy as np

from giro.compiling import kernel


class Points(NamedTuple):
    """The values that arms can take, in any order."""

    value: np.ndarray  # [i]
    mass: np.ndarray  # [i] how likely the owner is to take it
    owner: np.ndarray  # [i] arm
    below: np.ndarray  # [arm] probability of values that are left out, lower than all of these


@kernel
def argmax_probabilities(values: np.ndarray, ranking: np.ndarray) -> np.ndarray:
    """Return the probability [i] with which `ties.argmax` returns the i-th arm.

    `ranking` is that of the arms which the values belong to, or empty.
    """
    chances = np.zeros(values.size)
    highest = values.max()
    best, tied = -1, 0
    for arm in range(values.size):
        if values[arm] == highest:
            chances[arm] = 1.0
            tied += 1
            if ranking.size > 0 and (best < 0 or ranking[arm] > ranking[best]):
                best = arm
    if ranking.size > 0:
        chances[:] = 0.0
        chances[best] = 1.0
        return chances
    return chances / tied


def winning_law(points: Points, ranking: np.ndarray) -> np.ndarray:
    """Return the probability [arm] of having the highest value; ties as in `ties.argmax`.

    Costs about points x arms, and points x arms^2 where many arms tie.
    """
    nodes, weights = gauss_rule((points.below.size + 1) // 2)
    order = np.argsort(points.value, kind="stable")
    chances = _chances(points, order, ranking, nodes, weights)
    return np.asarray(chances / chances.sum())


@functools.cache
def gauss_rule(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes in (0, 1) and weights that integrate polynomials of degree 2n - 1 exactly."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return (nodes + 1.0) / 2.0, weights / 2.0


@kernel
def _chances(
    points: Points, order: np.ndarray, ranking: np.ndarray, nodes: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    below, here = points.below.copy(), np.zeros(points.below.size)
    tied = np.empty(points.below.size, np.int64)
    chances = np.zeros(points.below.size)
    i = 0
    while i < order.size:
        x, n_tied = points.value[order[i]], 0
        while i < order.size and points.value[order[i]] == x:
            arm = points.owner[order[i]]
            if here[arm] == 0.0 and points.mass[order[i]] > 0.0:
                tied[n_tied] = arm
                n_tied += 1
            here[arm] += points.mass[order[i]]
            i += 1
        if n_tied == 1 or ranking.size > 0:
            _by_rank(chances, below, here, tied[:n_tied], ranking)
        else:
            _by_lot(chances, below, here, tied[:n_tied], nodes, weights)
        for arm in tied[:n_tied]:
            below[arm] += here[arm]
            here[arm] = 0.0
    return chances


@kernel
def _by_rank(
    chances: np.ndarray, below: np.ndarray, here: np.ndarray, tied: np.ndarray, ranking: np.ndarray
) -> None:
    """Add what each tied arm wins at this value from those below it and of lower rank."""
    for arm in tied:
        wins = here[arm]
        for other in range(below.size):
            if other != arm:
                beaten = here[other] > 0.0 and ranking[other] < ranking[arm]
                wins *= below[other] + here[other] if beaten else below[other]
        chances[arm] += wins


@kernel
def _by_lot(
    chances: np.ndarray,
    below: np.ndarray,
    here: np.ndarray,
    tied: np.ndarray,
    nodes: np.ndarray,
    weights: np.ndarray,
) -> None:
    """Add what each tied arm wins at this value where ties are drawn."""
    for node in range(nodes.size):
        u, product = nodes[node], weights[node]
        for arm in range(below.size):
            product *= below[arm] + here[arm] * u
        for arm in tied:
            chances[arm] += here[arm] * product / (below[arm] + here[arm] * u)


def replica_probabilities(values: np.ndarray, ranking: np.ndarray) -> np.ndarray:
    """Return the probability [arm] of the highest value, if each arm's is one of its replicas'.

    Arms draw from values[arm, replica] uniformly and independently of each other.
    """
    n_arms, replicas = values.shape
    owner, mass = np.repeat(np.arange(n_arms), replicas), np.full(values.size, 1.0 / replicas)
    return winning_law(Points(values.ravel(), mass, owner, np.zeros(n_arms)), ranking)
