"""Arms in random order."""

from itertools import permutations

import pytest
from laws import assert_follows

from giro.kernels.shuffle import shuffled
from giro.seeds import stream

ORDERS = {order: i for i, order in enumerate(permutations(range(4)))}


def test_every_order_is_equally_likely(seed: int) -> None:
    rng = stream(seed)
    which = [ORDERS[tuple(shuffled(4, rng).tolist())] for _ in range(20_000)]
    assert_follows(which, [1 / 24] * 24)


def test_swapping_any_two_places_would_fail(seed: int) -> None:
    rng, which = stream(seed), []
    for _ in range(20_000):
        order = [0, 1, 2, 3]
        for i in range(4):  # the well-known wrong shuffle
            j = int(rng.random() * 4)
            order[i], order[j] = order[j], order[i]
        which.append(ORDERS[tuple(order)])
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(which, [1 / 24] * 24)
