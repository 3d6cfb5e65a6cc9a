"""Arms in falling order of a key, so that those with large keys are found without looking at all.

A key changes less and less, so its arm passes few others on the way to its new place. In a heap the
way is shorter, but the arms with large keys lie scattered among the others.
"""

from typing import NamedTuple

import numpy as np

from giro.kernel import inline_kernel


class SortedArms(NamedTuple):
    """All arms, those with the largest keys first."""

    keys: np.ndarray  # [place]
    arms: np.ndarray  # [place] the arm there
    places: np.ndarray  # [arm] where it is


def with_equal_keys(n_arms: int, key: float) -> SortedArms:
    """Return arms that all have the same key."""
    return SortedArms(np.full(n_arms, key), np.arange(n_arms), np.arange(n_arms))


@inline_kernel
def set_key(order: SortedArms, arm: int, key: float) -> None:
    """Give the arm this key and the place that goes with it."""
    keys, arms, place = order.keys, order.arms, order.places[arm]
    while place > 0 and keys[place - 1] < key:
        _put(order, place, arms[place - 1], keys[place - 1])
        place -= 1
    while place + 1 < keys.size and keys[place + 1] > key:
        _put(order, place, arms[place + 1], keys[place + 1])
        place += 1
    _put(order, place, arm, key)


@inline_kernel
def _put(order: SortedArms, place: int, arm: int, key: float) -> None:
    order.keys[place], order.arms[place], order.places[arm] = key, arm, place
