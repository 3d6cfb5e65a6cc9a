"""Arms in falling order of a key, so that those with large keys are found without looking at all.

A key changes less and less, so its arm passes few others on the way to its new place. In a heap the
way is shorter, but the arms with large keys lie scattered among the others.
"""

from typing import NamedTuple

import numpy as np

from giro.compiling import inline_kernel


class SortedArms(NamedTuple):
    """All arms, those with the largest keys first, and of arms with equal keys the first first."""

    keys: np.ndarray  # [place]
    arms: np.ndarray  # [place] the arm there
    positions: np.ndarray  # [arm] where it is


def without_keys(n_arms: int) -> SortedArms:
    """Return arms that have no key yet: it is below all others, so more arms come last."""
    return SortedArms(np.full(n_arms, -np.inf), np.arange(n_arms), np.arange(n_arms))


@inline_kernel
def set_key(order: SortedArms, arm: int, key: float) -> None:
    """Give the arm this key and the place that goes with it."""
    keys, arms, position = order.keys, order.arms, order.positions[arm]
    while position > 0 and _comes_before(key, arm, keys[position - 1], arms[position - 1]):
        _put(order, position, arms[position - 1], keys[position - 1])
        position -= 1
    while position + 1 < keys.size and _comes_before(
        keys[position + 1], arms[position + 1], key, arm
    ):
        _put(order, position, arms[position + 1], keys[position + 1])
        position += 1
    _put(order, position, arm, key)


@inline_kernel
def _comes_before(key: float, arm: int, other_key: float, other: int) -> bool:
    return key > other_key or (key == other_key and arm < other)


@inline_kernel
def _put(order: SortedArms, position: int, arm: int, key: float) -> None:
    order.keys[position], order.arms[position], order.positions[arm] = key, arm, position
