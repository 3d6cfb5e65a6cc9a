"""UCB1: the bound, worked by hand."""

import math

import numpy as np
from laws import assert_follows
from policies.choosing import choice_counts

from giro.policies.ucb1 import Ucb1


def test_the_highest_bound_is_pulled(seed: int) -> None:
    histories: list[list[float]] = [[1, 0, 1, 1, 0, 1], [0, 1, 0], [0.5]]
    bounds = [
        np.mean(history) + math.sqrt(2 * math.log(10) / len(history)) for history in histories
    ]
    assert np.argmax(bounds) == 2
    assert choice_counts(Ucb1(), histories, draws=20, seed=seed).tolist() == [0, 0, 20]


def test_untried_arms_go_first_and_share_equally(seed: int) -> None:
    counts = choice_counts(Ucb1(), [[1], [], []], draws=20_000, seed=seed)
    assert_follows(np.repeat(np.arange(3), counts), [0, 0.5, 0.5])
