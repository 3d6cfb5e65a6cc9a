"""The probability of each arm to have the highest value, where values take a few known points.

All arms' points are taken from the highest down. At a point x, P is the probability that no arm is
above it, and h_i the probability that arm i is at x, given that it is not above. An arm that is
alone at x wins there with probability P h_i. Where several can be at x and ties are drawn, the j-th
gets the expectation of 1 / (number of arms at x),

    P h_j E[1 / (1 + N)] = P h_j times the integral over v in [0, 1] of prod_{i != j} (1 - h_i v),

where i are the arms that can be at x, which Gauss's rule integrates to the last digits, where the
polynomial has not yet fallen to nothing. Below an x where P is negligible nobody wins, so few of
many arms' points are ever looked at.
"""

import math
from typing import NamedTuple

import numpy as np

from giro.compiling import borrowed, inline_kernel, kernel

_NEGLIGIBLE = 1e-18  # probability that the highest value is lower than what was looked at
_NODES = 16  # of the largest of Gauss's rules
_PER_BUCKET = 2


class Points(NamedTuple):
    """The values that arms can take, in any order.

    The lowest ones may be left out.
    """

    value: np.ndarray  # [i]
    mass: np.ndarray  # [i] how likely the owner is to take it, of `total`
    owner: np.ndarray  # [i] arm
    total: float  # mass of each arm


@kernel
def argmax_probabilities(values: np.ndarray, ranking: np.ndarray) -> np.ndarray:
    """Return the probability [i] with which `ties.argmax` returns the i-th arm.

    `ranking` is that of the arms which the values belong to, or empty.
    """
    chances, highest = np.zeros(values.size), -np.inf
    for value in values:
        highest = max(highest, value)
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
    return normalised(chances)


@kernel
def normalised(chances: np.ndarray) -> np.ndarray:
    """Divide chances by their sum, and return them."""
    total = 0.0
    for arm in range(chances.size):
        total += chances[arm]
    for arm in range(chances.size):
        chances[arm] /= total
    return chances


class Standing(NamedTuple):
    """The chances awarded down to some value."""

    up_to: np.ndarray  # [arm] mass at lower values
    here: np.ndarray  # [arm] mass at this value
    tied: np.ndarray  # [j] arms that have some
    share: np.ndarray  # [j] h of each of these
    chances: np.ndarray  # [arm] probability of the highest value, so far
    none_above: np.ndarray  # [1] P


@kernel
def before_all(n_arms: int, total: float) -> Standing:
    """Return the standing above all values, with this mass of each arm."""
    up_to, here, share, chances = (
        np.empty(n_arms),
        np.zeros(n_arms),
        np.zeros(n_arms),
        np.zeros(n_arms),
    )
    up_to[:], none_above = total, np.empty(1)
    none_above[0] = 1.0
    return Standing(up_to, here, np.empty(n_arms, np.int64), share, chances, none_above)


@inline_kernel
def put(standing: Standing, arm: int, mass: float, n_tied: int) -> int:
    """Add an arm to the `n_tied` at the present value, and return how many there are now."""
    if standing.here[arm] == 0.0 and mass > 0.0:
        standing.tied[n_tied] = arm
        n_tied += 1
    standing.here[arm] += mass
    return n_tied


@inline_kernel
def award(standing: Standing, n_tied: int, ranking: np.ndarray) -> None:
    """Award the present value to the arms that are `tied` there, and go below it."""
    if n_tied == 1:
        arm = standing.tied[0]
        award_alone(standing, arm, standing.here[arm])
        standing.here[arm] = 0.0
    elif n_tied > 1:
        _award_tied(standing, n_tied, ranking)


@inline_kernel
def award_alone(standing: Standing, arm: int, mass: float) -> None:
    """Award a value that only one arm can have, or several of them with none of others between."""
    up_to, above = standing.up_to[arm], standing.none_above[0]
    share = mass / up_to if mass < up_to else 1.0
    standing.chances[arm] += above * share
    standing.none_above[0] = above * (1.0 - share)
    standing.up_to[arm] = up_to - mass


@kernel
def _award_tied(standing: Standing, n_tied: int, ranking: np.ndarray) -> None:
    tied, share, above = standing.tied[:n_tied], standing.share, standing.none_above[0]
    if ranking.size > 0:
        sort(ranking, tied)
    for j in range(n_tied):
        arm, none_above = tied[j], standing.none_above[0]
        here, up_to = standing.here[arm], standing.up_to[arm]
        share[j] = here / up_to if here < up_to else 1.0
        if ranking.size > 0:  # one after the other
            standing.chances[arm] += none_above * share[j]
        standing.none_above[0] = none_above * (1.0 - share[j])
        standing.up_to[arm], standing.here[arm] = up_to - here, 0.0
    if ranking.size == 0:
        _by_lot(standing.chances, above, share[:n_tied], tied)


@kernel
def argmax_probabilities_of_points(points: Points, n_arms: int, ranking: np.ndarray) -> np.ndarray:
    """Return the probability [arm] of having the highest value.

    Ties are as in `ties.argmax`. Costs about as much as there are points, and 50 times the arms for
    each value that many of them can have.
    """
    standing = before_all(n_arms, points.total)
    _award_all(standing, points, ranking)
    return normalised(standing.chances)


@kernel
def _award_all(standing: Standing, points: Points, ranking: np.ndarray) -> None:
    """Award all points, as far down as anybody wins."""
    standing, (value, mass, owner, _) = borrowed(standing), borrowed(points)
    begin, order = _buckets(value)
    for bucket in range(begin.size - 1):
        inside = order[begin[bucket] : begin[bucket + 1]]
        sort(value, inside)
        i = 0
        while i < inside.size and standing.none_above[0] > _NEGLIGIBLE:
            first, n_tied = i, 0
            while i == first or (i < inside.size and value[inside[i]] == value[inside[first]]):
                n_tied = put(standing, owner[inside[i]], mass[inside[i]], n_tied)
                i += 1
            award(standing, n_tied, ranking)
        if standing.none_above[0] <= _NEGLIGIBLE:
            break


@kernel
def _by_lot(chances: np.ndarray, above: float, share: np.ndarray, tied: np.ndarray) -> None:
    """Add each tied arm's chance of winning at this value where ties are drawn."""
    n, total, panels = 1, 0.0, 1
    for j in range(share.size):
        total += share[j]
    while n < _NODES and 2 * n < share.size and total > _SUFFICES[n - 1]:
        n += 1
    if 2 * n < share.size:
        panels = int(np.ceil(max(1.0, total / _SUFFICES[n - 1])))
    for node in range(panels * n):
        panel, q = node // n, node % n
        v, product = (panel + _V[n - 1, q]) / panels, above * _WEIGHT[n - 1, q] / panels
        for j in range(share.size):
            product *= 1.0 - share[j] * v
        if product <= _NEGLIGIBLE * above and panels > 1:
            break  # it falls with v
        for j in range(share.size):
            chances[tied[j]] += share[j] * product / (1.0 - share[j] * v)


def _rules() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return nodes in (0, 1) and weights of Gauss's rules, [n - 1] those of n nodes.

    And the sum of all h_i for which they suffice: they integrate polynomials up to the degree
    2n - 1 exactly, and their error is below (n!)^4 / ((2n + 1) (2n)!^3) times the 2n-th derivative,
    which is at most the 2n-th power of that sum.
    """
    nodes, weights, suffices = np.zeros((_NODES, _NODES)), np.zeros((_NODES, _NODES)), []
    for n in range(1, _NODES + 1):
        points, factors = np.polynomial.legendre.leggauss(n)
        nodes[n - 1, :n], weights[n - 1, :n] = (points + 1.0) / 2.0, factors / 2.0
        error = math.factorial(n) ** 4 / ((2 * n + 1) * math.factorial(2 * n) ** 3)
        suffices.append((1e-16 / error) ** (1 / (2 * n)))
    return nodes, weights, np.array(suffices)


_V, _WEIGHT, _SUFFICES = _rules()


@kernel
def _buckets(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the beginnings of buckets of nearly equal values, and their members, highest first."""
    top, low = -np.inf, np.inf
    for value in values:
        top, low = max(top, value), min(low, value)
    spread = top - low if low > -np.inf and top < np.inf else 0.0
    n = max(1, values.size // _PER_BUCKET) if 0.0 < spread < np.inf else 1
    scale = (1.0 - 1e-9) * n / spread if n > 1 else 0.0
    begin, order = np.zeros(n + 1, np.int64), np.empty(values.size, np.int64)
    number = np.zeros(values.size, np.int64)
    for i in range(values.size):
        if n > 1:
            place = (top - values[i]) * scale
            number[i] = int(place) if place < n else n - 1  # the last one for what is no number
        begin[number[i]] += 1
    end = 0
    for bucket in range(n + 1):
        begin[bucket], end = end, end + begin[bucket]
    for i in range(values.size - 1, -1, -1):
        order[begin[number[i]]] = i
        begin[number[i]] += 1
    for bucket in range(n, 0, -1):
        begin[bucket] = begin[bucket - 1]
    begin[0] = 0
    return begin, order


@kernel
def sort(values: np.ndarray, order: np.ndarray) -> None:
    """Sort indices by their values, the highest first (Shell, 1959)."""
    gap = 1
    while 3 * gap < order.size:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, order.size):
            one, j = order[i], i
            while j >= gap and values[order[j - gap]] < values[one]:
                order[j] = order[j - gap]
                j -= gap
            order[j] = one
        gap //= 3


@kernel
def replica_probabilities(values: np.ndarray, ranking: np.ndarray) -> np.ndarray:
    """Return the probability [arm] of the highest value, if each arm's is one of its replicas'.

    Arms draw from values[arm, replica] uniformly and independently of each other.
    """
    n_arms, replicas = values.shape
    floor = -np.inf  # which some arm reaches for sure
    for arm in range(n_arms):
        floor = max(floor, values[arm].min())
    value, owner, n = np.empty(values.size), np.empty(values.size, np.int64), 0
    for arm in range(n_arms):
        for replica in range(replicas):
            if values[arm, replica] >= floor:
                value[n], owner[n] = values[arm, replica], arm
                n += 1
    return argmax_probabilities_of_points(
        Points(value[:n], np.ones(n), owner[:n], float(replicas)), n_arms, ranking
    )
