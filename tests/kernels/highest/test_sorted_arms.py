"""Arms lie in falling order of their keys, whichever keys change."""

import numpy as np

from giro.kernels.highest.binomial_argmax import set_key, without_keys
from giro.seeds import stream


def test_the_order_holds_after_every_change_of_a_key(seed: int) -> None:
    rng = stream(seed)
    for n_arms in (1, 2, 3, 10, 33):
        order, keys = without_keys(n_arms), np.full(n_arms, -np.inf)
        for _ in range(200):
            arm, key = int(rng.integers(n_arms)), float(rng.integers(20))
            set_key(order, arm, key)
            keys[arm] = key
            assert np.array_equal(order.keys, np.sort(keys)[::-1])
            assert np.array_equal(order.keys, keys[order.arms])
            assert np.array_equal(order.arms[order.positions], np.arange(n_arms))
            equal = order.keys[1:] == order.keys[:-1]
            assert np.all(np.diff(order.arms)[equal] > 0)
