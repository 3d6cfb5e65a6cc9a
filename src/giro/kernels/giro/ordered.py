"""Rewards of every arm in ascending order, but for the latest few, with the sums of their parts."""

from typing import NamedTuple

import numpy as np

from giro.compiling import inline_kernel, kernel

_FIRST_CAPACITY = 8
_GRANULE = 16  # the number of ordered rewards is a multiple of this, so that it can be halved
_SMALLEST_PART = 64  # rewards; a larger part is divided further

STORAGE = [  # fields of an arm's record that say where its rewards are
    ("begin", np.int64),  # where the arm's rewards start in the pool
    ("length", np.int64),  # how many there are
    ("fits", np.int64),  # how many fit
    ("ordered", np.int64),  # how many of them, the first ones, ascend
    ("levels", np.int64),  # how often these can be halved
    ("used", np.int64),  # entries of the pool given away to any arm; counted in the first record
]


class Ordered(NamedTuple):
    """Rewards of all arms in one pool; the latest ones of an arm follow its ordered ones.

    Latest rewards are merged when there are about sqrt(s) of them, so that a reward costs about
    sqrt(s) copies; some stay, to keep the ordered ones a multiple of 16. An arm that outgrows its
    place moves to one of twice the size at the end of the pool, which is thus at most four times
    as large as the rewards in it, plus eight per arm.
    """

    arms: np.ndarray  # [arm] records with the fields of STORAGE
    pool: np.ndarray  # [entry]
    sums: np.ndarray  # [arm, 2^level + part, power - 1] of the rewards of a part and their squares

    def trimmed(self) -> "Ordered":
        """Return what is in use."""
        used = int(self.arms["used"][0])
        nodes = 2 << int(self.arms["levels"].max()) if used else 0
        return self._replace(pool=self.pool[:used], sums=self.sums[:, :nodes])


def empty_ordered(arms: np.ndarray, capacity: int) -> Ordered:
    """Return a history without rewards, that can hold `capacity` of them."""
    pool = np.empty(4 * capacity + _FIRST_CAPACITY * arms.size)
    return Ordered(arms, pool, np.empty((arms.size, 2 * most_parts(capacity), 2)))


def most_parts(capacity: int) -> int:
    """Return into how many parts at most `capacity` rewards are divided, four or more."""
    parts = 4
    while parts * _SMALLEST_PART < capacity:
        parts *= 2
    return parts


@inline_kernel
def is_empty(state: Ordered) -> bool:
    """Tell whether no arm has a reward."""
    return bool(state.arms[0].used == 0)


@kernel
def insert(state: Ordered, arm: int, reward: float) -> None:
    """Add a reward to the arm's history."""
    its = state.arms[arm]
    if its.length == its.fits:
        _move(state, arm)
    state.pool[its.begin + its.length] = reward
    its.length += 1
    latest = its.length - its.ordered
    if latest >= _GRANULE and latest * latest > its.length:
        _merge(state, arm, latest - latest % _GRANULE)


@kernel
def take_out(state: Ordered, arm: int, reward: float) -> None:
    """Take one reward of this value out of the arm's history, in about s steps.

    If it was an ordered one, the 15 largest of these count as latest, so that the others are still
    a multiple of 16.
    """
    its, pool = state.arms[arm], state.pool
    rank = int(np.searchsorted(pool[its.begin : its.begin + its.ordered], reward))
    if rank == its.ordered or pool[its.begin + rank] != reward:
        rank = its.ordered
        while pool[its.begin + rank] != reward:
            rank += 1
    its.length -= 1
    for i in range(its.begin + rank, its.begin + its.length):
        pool[i] = pool[i + 1]
    if rank < its.ordered:
        its.ordered -= _GRANULE
        _sum_up(state, arm)


@kernel
def _move(state: Ordered, arm: int) -> None:
    """Give the arm a place of twice the size at the end of the pool."""
    its, target = state.arms[arm], state.arms[0].used
    for i in range(its.length):
        state.pool[target + i] = state.pool[its.begin + i]
    its.begin = target
    its.fits = max(_FIRST_CAPACITY, 2 * its.length)
    state.arms[0].used += its.fits


@kernel
def _merge(state: Ordered, arm: int, count: int) -> None:
    """Bring the first `count` of the latest rewards in order with the others, and sum them up."""
    its, pool = state.arms[arm], state.pool
    begin, end = its.begin, its.begin + its.ordered + count
    latest = np.sort(pool[begin + its.ordered : end])
    i, j = begin + its.ordered - 1, latest.size - 1
    while j >= 0:
        if i >= begin and pool[i] > latest[j]:
            pool[i + j + 1] = pool[i]
            i -= 1
        else:
            pool[i + j + 1] = latest[j]
            j -= 1
    its.ordered += count
    _sum_up(state, arm)


@kernel
def _sum_up(state: Ordered, arm: int) -> None:
    """Set the sums of all parts: of the smallest ones from their rewards, then of pairs."""
    its, sums = state.arms[arm], state.sums[arm]
    its.levels = 0
    while (its.ordered >> its.levels) > _SMALLEST_PART:
        its.levels += 1
    for part in range(1 << its.levels):
        low, high = part_of(its.ordered, its.levels, part)
        total, squares = 0.0, 0.0
        for entry in range(its.begin + low, its.begin + high):
            total += state.pool[entry]
            squares += state.pool[entry] * state.pool[entry]
        node = (1 << its.levels) + part
        sums[node, 0], sums[node, 1] = total, squares
    for node in range((1 << its.levels) - 1, 0, -1):
        sums[node, 0] = sums[2 * node, 0] + sums[2 * node + 1, 0]
        sums[node, 1] = sums[2 * node, 1] + sums[2 * node + 1, 1]


@kernel
def part_of(size: int, level: int, part: int) -> tuple[int, int]:
    """Return the range of ranks that a part covers, one of the 2^level of `size` rewards."""
    return (part * size) >> level, ((part + 1) * size) >> level


@kernel
def mean_and_variance(state: Ordered, arm: int, level: int, part: int) -> tuple[float, float]:
    """Return both for the rewards of a part."""
    low, high = part_of(state.arms[arm].ordered, level, part)
    node = (1 << level) + part
    mean = state.sums[arm, node, 0] / (high - low)
    return mean, max(state.sums[arm, node, 1] / (high - low) - mean * mean, 0.0)
