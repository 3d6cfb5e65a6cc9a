"""Greedy."""

import numpy as np
from laws import assert_follows
from policies.choosing import choice_counts

from giro.policies.greedy import Greedy


def test_the_highest_mean_is_pulled(seed: int) -> None:
    histories = [[0.5, 0.4], [0.9, 0.1, 0.5], [0.3]]
    assert choice_counts(Greedy(), histories, draws=50, seed=seed).tolist() == [0, 50, 0]


def test_untried_arms_go_first_and_share_equally(seed: int) -> None:
    counts = choice_counts(Greedy(), [[1], [], [1], []], draws=20_000, seed=seed)
    assert_follows(np.repeat(np.arange(4), counts), [0, 0.5, 0, 0.5])


def test_with_fixed_ties_one_of_the_tied_arms_always_wins(seed: int) -> None:
    counts = choice_counts(Greedy(ties="fixed"), [[1], [1], [1]], draws=50, seed=seed)
    assert sorted(counts.tolist()) == [0, 0, 50]
