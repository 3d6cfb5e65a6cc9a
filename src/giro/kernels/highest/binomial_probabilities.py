"""The probability of each arm to have the highest of values that are binomial draws, or nearly so.

The values are those of `binomial_argmax`. Arms with few points are walked point by point (see
`lattices.py`), which is exact and costs the more, the more points there are. Where that would take
longer than it takes to integrate densities, arms with many points have the continuous binomial
instead (see `bells.py`), and the probabilities are exact for this law. Who draws arms from the
probabilities then plays by it.

The two laws have the same mean and variance. They differ in ties, and in where points of one
lattice fall between those of another, which depends on how the two n divide and which no density
knows.
"""

import math
from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.highest.bells import BELL, race
from giro.kernels.highest.binomial_argmax import BinomialValues
from giro.kernels.highest.lattices import (
    LATTICE,
    RARE,
    award_until,
    begin,
    binomial_range,
    points_of,
    queue_of,
    walked,
)
from giro.kernels.highest.probabilities import (
    Standing,
    argmax_probabilities,
    argmax_probabilities_of_points,
    award_alone,
    before_all,
    normalised,
)
from giro.offer import of_arms

_SCARCE = 16.0  # of points that have a probability of e^-16, 1e-7, the order does not matter
_MANY = 128  # lattices, with which a queue takes longer than sorting all points
_LEAST_VARIANCE = 128.0  # n p (1 - p) of a bell: its ends are far from 0 and n
# what densities cost, in points of lattices: in all, each of them, and each point among them
_RACE, _PER_BELL, _PER_POINT = 1000.0, 240.0, 25.0


class Laws(NamedTuple):
    """The laws of all arms' values, a part of `BinomialValues`."""

    variants: np.ndarray  # [arm, variant] records
    bounds: np.ndarray  # [arm] records


@kernel
def binomial_argmax_probabilities(
    values: BinomialValues, arms: np.ndarray, ranking: np.ndarray
) -> np.ndarray:
    """Return the probability [i] of each of these arms to have the highest value.

    Some values may be continuous, see above. The error is below 1e-12 for up to 1e7 rewards.
    """
    laws, top = Laws(values.variants, values.bounds), np.empty(arms.size)
    floor = put_tops(laws, arms, top)
    return law_of(laws, arms, ranking, top, floor, are_continuous(laws, arms, top, floor))


@kernel
def put_tops(laws: Laws, arms: np.ndarray, top: np.ndarray) -> float:
    """Write values that arms hardly exceed, and return one that some arm reaches almost surely."""
    floor = -np.inf
    for i in range(arms.size):
        low, top[i] = _reach(laws, arms[i], RARE)
        floor = max(floor, low)
    return floor


@kernel
def are_continuous(laws: Laws, arms: np.ndarray, top: np.ndarray, floor: float) -> np.ndarray:
    """Return which [i] of the values are continuous: those with many points, if it saves time."""
    continuous = np.zeros(arms.size, np.bool_)
    bells, points, others, highest = 0.0, 0.0, 0.0, floor
    for i in range(arms.size):
        if top[i] >= floor and top[i] < np.inf and _is_dense(laws, arms[i]):
            continuous[i] = True
            lattices = 2.0 if laws.bounds[arms[i]].share > 0.0 else 1.0
            points += lattices * laws.variants[arms[i], 0].m * (top[i] - floor)
            bells, highest = bells + lattices, max(highest, top[i])
    if points <= _RACE + _PER_BELL * bells:
        continuous[:] = False
        return continuous
    for i in range(arms.size):
        if top[i] >= floor and not continuous[i]:
            others += laws.variants[arms[i], 0].m * (min(top[i], highest) - floor)
    if points <= _RACE + _PER_BELL * bells + _PER_POINT * others:
        continuous[:] = False
    return continuous


@kernel
def _is_dense(laws: Laws, arm: int) -> bool:
    """Return whether a bell can stand for all lattices of an arm."""
    for variant in range(2 if laws.bounds[arm].share > 0.0 else 1):
        law = laws.variants[arm, variant]
        if law.offset != 0.0 or law.n != law.m or law.n * law.p * (1.0 - law.p) < _LEAST_VARIANCE:
            return False
    return True


@kernel
def law_of(
    laws: Laws,
    arms: np.ndarray,
    ranking: np.ndarray,
    top: np.ndarray,
    floor: float,
    continuous: np.ndarray,
) -> np.ndarray:
    """Return the probability [i] of each arm to have the highest value."""
    ranking, rivals = of_arms(ranking, arms), 0
    for i in range(arms.size):
        rivals += top[i] >= floor
    if floor == np.inf or rivals == 1:  # an untried arm, or one that has no rival
        return argmax_probabilities(top, ranking)
    lattices = _lattices(laws, arms, top, floor, continuous)
    bells = _bells(laws, arms, top, continuous)
    if bells.size == 0 and lattices.size > _MANY:
        return argmax_probabilities_of_points(points_of(lattices, floor), arms.size, ranking)
    standing = before_all(arms.size, 1.0)
    _skip_rare(standing, lattices, _ceiling(laws, arms, top, floor))
    if bells.size > 0:
        race(standing, bells, queue_of(lattices), ranking, floor)
    else:
        award_until(standing, queue_of(lattices), ranking, -np.inf)
    return normalised(standing.chances)


@kernel
def _ceiling(laws: Laws, arms: np.ndarray, top: np.ndarray, floor: float) -> float:
    """Return a value above which hardly any two arms are."""
    scarce, ceiling = _SCARCE + math.log(arms.size), floor
    for i in range(arms.size):
        if top[i] >= floor:
            ceiling = max(ceiling, _reach(laws, arms[i], scarce)[1])
    return ceiling


@kernel
def _skip_rare(standing: Standing, lattices: np.ndarray, ceiling: float) -> None:
    """Award points above the ceiling, each to its arm, in whatever order."""
    for i in range(lattices.size - 1):
        award_alone(standing, lattices[i].owner, walked(lattices[i], ceiling))


@kernel
def _lattices(
    laws: Laws, arms: np.ndarray, top: np.ndarray, floor: float, continuous: np.ndarray
) -> np.ndarray:
    """Return the lattices that reach the floor, and one without points."""
    lattices, size = np.empty(2 * arms.size + 1, LATTICE), 0
    for i in range(arms.size):
        share = laws.bounds[arms[i]].share
        for variant in range(2 if share > 0.0 else 1):
            if top[i] >= floor and not continuous[i]:
                weight = share if variant == 1 else 1.0 - share
                begin(lattices[size], i, laws.variants[arms[i], variant], weight)
                size += 1
    lattices[size].x = -np.inf
    return lattices[: size + 1]


@kernel
def _bells(laws: Laws, arms: np.ndarray, top: np.ndarray, continuous: np.ndarray) -> np.ndarray:
    """Return the densities of continuous values."""
    bells, size, row = np.empty(2 * arms.size, BELL), 0, -1
    for i in range(arms.size):
        share = laws.bounds[arms[i]].share
        row += continuous[i]
        for variant in range(2 if share > 0.0 else 1):
            if continuous[i]:
                law, bell = laws.variants[arms[i], variant], bells[size]
                bell.row, bell.owner, bell.n, bell.p = row, i, law.m, law.p
                bell.weight = share if variant == 1 else 1.0 - share
                bell.scale, bell.high = math.sqrt(law.p * (1.0 - law.p) / law.m), top[i]
                size += 1
    return bells[:size]


@kernel
def _reach(laws: Laws, arm: int, rare: float) -> tuple[float, float]:
    """Return values of an arm beyond which its probability is below e^-rare, on either side."""
    bound, low, high = laws.bounds[arm], np.inf, -np.inf
    if bound.centre == np.inf:
        return np.inf, np.inf
    for variant in range(2 if bound.share > 0.0 else 1):
        law = laws.variants[arm, variant]
        first, last = binomial_range(law.n, law.p, rare)
        low = min(low, (law.offset + first) / law.m)
        high = max(high, (law.offset + last) / law.m)
    return low, high
