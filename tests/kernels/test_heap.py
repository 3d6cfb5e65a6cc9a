"""Arms lie in a heap by their keys, whichever keys change."""

import numpy as np

from giro.kernels.heap import even_heap, set_key
from giro.seeds import stream


def test_the_heap_holds_after_every_change_of_a_key(seed: int) -> None:
    rng = stream(seed)
    for n_arms in (1, 2, 3, 10, 33):
        heap, keys = even_heap(n_arms, np.inf), np.full(n_arms, np.inf)
        for _ in range(200):
            arm, key = int(rng.integers(n_arms)), float(rng.integers(20))
            set_key(heap, arm, key)
            keys[arm] = key
            assert np.array_equal(heap.keys, keys[heap.arms])
            assert np.array_equal(heap.arms[heap.places], np.arange(n_arms))
            places = np.arange(1, n_arms)
            assert (heap.keys[places] <= heap.keys[(places - 1) // 2]).all()
