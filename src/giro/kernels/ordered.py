"""Rewards of every arm in ascending order, but for the latest few, with their running sums."""

from typing import NamedTuple

import numpy as np

from giro.kernel import inline_kernel, kernel

_FIRST_ROOM = 8
_GRANULE = 16  # the number of ordered rewards is a multiple of this, so that it can be halved

PLACE = [  # fields of an arm's record that say where its rewards are
    ("begin", np.int64),  # where the arm's rewards start in the pool
    ("length", np.int64),  # how many there are
    ("room", np.int64),  # how many fit
    ("ordered", np.int64),  # how many of them, the first ones, ascend
    ("used", np.int64),  # entries of the pool given away to any arm; counted in the first record
]


class Ordered(NamedTuple):
    """Rewards of all arms in one pool; the latest ones of an arm follow its ordered ones.

    Latest rewards are merged when there are about sqrt(s) of them, so that a reward costs about
    sqrt(s) copies; some stay, to keep the ordered ones a multiple of 16. An arm that outgrows its
    place moves to one of twice the size at the end of the pool, which is thus at most four times
    as large as the rewards in it, plus eight per arm.
    """

    arms: np.ndarray  # [arm] records with the fields of PLACE
    pool: np.ndarray  # [entry]
    sums: np.ndarray  # [entry, power - 1] sum of the arm's ordered rewards, and of their squares,
    #                   before this one


def empty_ordered(arms: np.ndarray, rounds: int) -> Ordered:
    """Return a history without rewards, with room for `rounds` of them."""
    size = 4 * rounds + _FIRST_ROOM * arms.size
    return Ordered(arms, np.empty(size), np.empty((size, 2)))


@inline_kernel
def is_empty(state: Ordered) -> bool:
    """Tell whether no arm has a reward."""
    return bool(state.arms[0].used == 0)


@kernel
def insert(state: Ordered, arm: int, reward: float) -> None:
    """Add a reward to the arm's history."""
    place = state.arms[arm]
    if place.length == place.room:
        _move(state, arm)
    state.pool[place.begin + place.length] = reward
    place.length += 1
    latest = place.length - place.ordered
    if latest >= _GRANULE and latest * latest > place.length:
        _merge(state, arm, latest - latest % _GRANULE)


@kernel
def _move(state: Ordered, arm: int) -> None:
    """Give the arm a place of twice the size at the end of the pool."""
    place, target = state.arms[arm], state.arms[0].used
    for i in range(place.length):
        state.pool[target + i] = state.pool[place.begin + i]
        state.sums[target + i, 0] = state.sums[place.begin + i, 0]
        state.sums[target + i, 1] = state.sums[place.begin + i, 1]
    place.begin = target
    place.room = max(_FIRST_ROOM, 2 * place.length)
    state.arms[0].used += place.room


@kernel
def _merge(state: Ordered, arm: int, count: int) -> None:
    """Bring the first `count` of the latest rewards in order with the others, and sum them up."""
    place, pool = state.arms[arm], state.pool
    begin, end = place.begin, place.begin + place.ordered + count
    latest = np.sort(pool[begin + place.ordered : end])
    i, j = begin + place.ordered - 1, latest.size - 1
    while j >= 0:
        if i >= begin and pool[i] > latest[j]:
            pool[i + j + 1] = pool[i]
            i -= 1
        else:
            pool[i + j + 1] = latest[j]
            j -= 1
    total = 0.0 if i < begin else state.sums[i, 0] + pool[i]
    squares = 0.0 if i < begin else state.sums[i, 1] + pool[i] * pool[i]
    for entry in range(i + 1, end):
        state.sums[entry, 0], state.sums[entry, 1] = total, squares
        total += pool[entry]
        squares += pool[entry] * pool[entry]
    place.ordered += count


@kernel
def mean_and_variance(state: Ordered, low: int, high: int) -> tuple[float, float]:
    """Return both for the ordered rewards at low..high-1 of the pool, all of one arm."""
    last, n = high - 1, high - low
    y = state.pool[last]
    mean = (state.sums[last, 0] + y - state.sums[low, 0]) / n
    mean_square = (state.sums[last, 1] + y * y - state.sums[low, 1]) / n
    return mean, max(mean_square - mean * mean, 0.0)
