"""Which of several equal arms is pulled."""

import numpy as np
import pytest
from laws import assert_follows

from giro import BadParameter
from giro.compiling import plain
from giro.kernels.highest.ties import an_untried_arm, argmax, highest, tie_ranking
from giro.seeds import stream

ARMS = np.array([2, 3, 5, 8])
RANDOM = tie_ranking("random", 9, stream(0))


def records_of(*centres: float) -> np.ndarray:
    return np.rec.fromarrays([np.array(centres)], dtype=[("centre", float)])


def test_the_highest_value_wins_whatever_the_ranking(seed: int) -> None:
    for ranking in (RANDOM, tie_ranking("fixed", 9, stream(seed))):
        assert plain(argmax)(np.array([0.1, 0.9, -np.inf, 0.8]), ARMS, ranking, stream(1)) == 3
        assert plain(argmax)(np.array([0.1]), ARMS[3:], ranking, stream(1)) == 8


def test_without_a_ranking_tied_arms_share_equally(seed: int) -> None:
    values, rng = np.array([0.7, 0.2, 0.7, 0.7]), stream(seed)
    chosen = [plain(argmax)(values, ARMS, RANDOM, rng) for _ in range(9_000)]
    assert_follows(np.searchsorted(ARMS, chosen), [1 / 3, 0, 1 / 3, 1 / 3])


def test_a_ranking_is_the_order_of_tied_arms() -> None:
    ranking = np.array([0.0, 9.0, 3.0, 4.0, 9.0, 6.0, 9.0, 9.0, 5.0])
    assert plain(argmax)(np.full(4, 0.5), ARMS, ranking, stream(0)) == 5
    assert plain(argmax)(np.array([0.5, 0.5, 0.1, 0.5]), ARMS, ranking, stream(0)) == 8


def test_a_ranking_of_more_arms_begins_with_that_of_fewer(seed: int) -> None:
    few, many = tie_ranking("fixed", 10, stream(seed)), tie_ranking("fixed", 500, stream(seed))
    assert few.tolist() == many[:10].tolist()
    assert np.unique(many).size == 500
    assert few.tolist() != tie_ranking("fixed", 10, stream(seed, 1)).tolist()


def test_every_order_of_arms_is_as_likely(seed: int) -> None:
    orders = [tuple(np.argsort(tie_ranking("fixed", 3, stream(seed, i)))) for i in range(3_000)]
    known = sorted(set(orders))
    assert_follows([known.index(order) for order in orders], [1 / 6] * 6)


def test_ties_are_random_or_fixed() -> None:
    with pytest.raises(BadParameter, match="ties is random or fixed, got 'odd'"):
        tie_ranking("odd", 3, stream(0))  # type: ignore[arg-type]


def test_of_equal_records_the_first_is_the_highest() -> None:
    records = records_of(9.0, 0.5, 0.2, 0.7, 0.7)
    assert plain(highest)(records, np.array([1, 2, 3, 4])) == 3
    assert plain(highest)(records, np.array([2])) == 2


def test_untried_arms_on_offer_share_equally(seed: int) -> None:
    records, rng = records_of(np.inf, 0.5, np.inf, np.inf), stream(seed)
    found = [plain(an_untried_arm)(records, np.arange(1, 4), RANDOM, rng) for _ in range(6_000)]
    assert_follows(found, [0, 0, 0.5, 0.5])
    assert plain(an_untried_arm)(records, np.array([1]), RANDOM, rng) == -1
