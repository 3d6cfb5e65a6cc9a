"""Arms in a heap, so that those with large keys are found without looking at all."""

from typing import NamedTuple

import numpy as np

from giro.kernel import inline_kernel


class Heap(NamedTuple):
    """No arm's key is larger than that of the arm above it: above place i is place (i - 1) // 2.

    So if the keys at places i, ..., 2i are all below some x, all keys at later places are, too.
    """

    keys: np.ndarray  # [place]
    arms: np.ndarray  # [place] the arm there
    places: np.ndarray  # [arm] where it is


def even_heap(n_arms: int, key: float) -> Heap:
    """Return a heap of arms that all have the same key."""
    return Heap(np.full(n_arms, key), np.arange(n_arms), np.arange(n_arms))


@inline_kernel
def set_key(heap: Heap, arm: int, key: float) -> None:
    """Give the arm this key and the place that goes with it."""
    place = heap.places[arm]
    while place > 0 and heap.keys[(place - 1) // 2] < key:
        above = (place - 1) // 2
        _put(heap, place, heap.arms[above], heap.keys[above])
        place = above
    below = _larger_below(heap.keys, place)
    while below < heap.keys.size and heap.keys[below] > key:
        _put(heap, place, heap.arms[below], heap.keys[below])
        place, below = below, _larger_below(heap.keys, below)
    _put(heap, place, arm, key)


@inline_kernel
def _larger_below(keys: np.ndarray, place: int) -> int:
    """Return the place with the larger key of the two below a place, past the end if none."""
    left = 2 * place + 1
    return left + 1 if left + 1 < keys.size and keys[left + 1] > keys[left] else left


@inline_kernel
def _put(heap: Heap, place: int, arm: int, key: float) -> None:
    heap.keys[place], heap.arms[place], heap.places[arm] = key, arm, place
