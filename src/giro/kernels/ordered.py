"""Rewards of every arm in ascending order, but for the latest few, with their running sums."""

from typing import NamedTuple

import numpy as np

from giro.kernel import kernel

_FIRST_ROOM = 8

_PLACE = np.dtype(
    [
        ("begin", np.int64),  # where the arm's rewards start in the pool
        ("length", np.int64),  # how many there are
        ("room", np.int64),  # how many fit
        ("ordered", np.int64),  # how many of them, the first ones, ascend
    ]
)


class Ordered(NamedTuple):
    """Rewards of all arms in one pool; the latest ones of an arm follow its ordered ones.

    Latest rewards are merged when there are about sqrt(s) of them, so that a reward costs about
    sqrt(s) copies. An arm that outgrows its place moves to one of twice the size at the end of the
    pool, which is thus at most four times as large as the rewards in it, plus eight per arm.
    """

    places: np.ndarray  # [arm] records
    pool: np.ndarray  # [entry]
    sums: np.ndarray  # [entry] sum of the arm's ordered rewards before this one
    used: np.ndarray  # [1] entries of the pool given away


def empty_ordered(n_arms: int, rounds: int) -> Ordered:
    """Return a history without rewards, with room for `rounds` of them."""
    size = 4 * rounds + _FIRST_ROOM * n_arms
    places = np.zeros(n_arms, _PLACE).view(np.recarray)
    return Ordered(places, np.empty(size), np.empty(size), np.zeros(1, np.int64))


@kernel
def insert(state: Ordered, arm: int, reward: float) -> None:
    """Add a reward to the arm's history."""
    place = state.places[arm]
    if place.length == place.room:
        _move(state, arm)
    state.pool[place.begin + place.length] = reward
    place.length += 1
    latest = place.length - place.ordered
    if latest * latest > place.length + 16:
        _merge(state, arm)


@kernel
def _move(state: Ordered, arm: int) -> None:
    """Give the arm a place of twice the size at the end of the pool."""
    place, target = state.places[arm], state.used[0]
    for i in range(place.length):
        state.pool[target + i] = state.pool[place.begin + i]
        state.sums[target + i] = state.sums[place.begin + i]
    place.begin = target
    place.room = max(_FIRST_ROOM, 2 * place.length)
    state.used[0] += place.room


@kernel
def _merge(state: Ordered, arm: int) -> None:
    """Bring all rewards of the arm in order, and sum them up."""
    place, pool = state.places[arm], state.pool
    begin, end = place.begin, place.begin + place.length
    latest = np.sort(pool[begin + place.ordered : end])
    i, j = begin + place.ordered - 1, latest.size - 1
    while j >= 0:
        if i >= begin and pool[i] > latest[j]:
            pool[i + j + 1] = pool[i]
            i -= 1
        else:
            pool[i + j + 1] = latest[j]
            j -= 1
    total = 0.0 if i < begin else state.sums[i] + pool[i]
    for entry in range(i + 1, end):
        state.sums[entry] = total
        total += pool[entry]
    place.ordered = place.length


@kernel
def sum_between(state: Ordered, low: int, high: int) -> float:
    """Return the sum of the ordered rewards at low..high-1 of the pool, all of one arm."""
    return state.sums[high - 1] + state.pool[high - 1] - state.sums[low]
