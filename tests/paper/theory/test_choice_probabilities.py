"""Exact probabilities of the next pull."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import assert_follows
from paper.theory import naive

from giro.errors import BadParameter
from giro.paper.theory.choice_probabilities import bootstrap_probabilities, giro_probabilities
from giro.seeds import stream

FRACTIONS = [Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(2)]

arm = st.integers(0, 4).flatmap(lambda s: st.tuples(st.just(s), st.integers(0, s)))


def probabilities(law, arms: list[tuple[int, int]]) -> np.ndarray:
    pulls, ones = zip(*arms, strict=True)
    return law(pulls, ones)


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.parametrize("ranking", [None, (0, 1), (1, 0)])
def test_giro_matches_a_count_of_all_bootstrap_samples(k: int, ranking) -> None:
    for arms in [[(1, 0), (1, 1)], [(1, 0), (2, 1)], [(2, 0), (2, 1)], [(1, 1), (2, 2)]]:
        values = [naive.enumerated_values(naive.history(s, v, k * s)) for s, v in arms]
        exact = [float(win) for win in naive.choices(values, ranking)]
        assert probabilities(giro_probabilities(k, ranking=ranking), arms) == pytest.approx(
            exact, abs=1e-13
        )


@settings(max_examples=100, deadline=None, database=None)
@given(
    a=st.sampled_from(FRACTIONS),
    arms=st.lists(arm, min_size=2, max_size=3),
    ranked=st.booleans(),
    data=st.data(),
)
def test_giro_with_real_a_matches_a_count_of_all_values(a, arms, ranked, data) -> None:
    ranking = tuple(data.draw(st.permutations(range(len(arms))))) if ranked else None
    exact = naive.choices([naive.arm_values(a, s, v) for s, v in _smaller(arms)], ranking)
    found = probabilities(giro_probabilities(float(a), ranking=ranking), _smaller(arms))
    assert found == pytest.approx([float(win) for win in exact], abs=1e-12)


def _smaller(arms: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Keep the number of joint values within bounds where there are three arms."""
    largest = 4 if len(arms) == 2 else 2
    return [(min(s, largest), min(v, s, largest)) for s, v in arms]


@settings(max_examples=60, deadline=None, database=None)
@given(a=st.sampled_from(FRACTIONS), arms=st.lists(arm, min_size=1, max_size=4))
def test_random_ties_are_the_average_over_all_rankings(a, arms) -> None:
    anew = probabilities(giro_probabilities(float(a)), arms)
    ranked = [
        probabilities(giro_probabilities(float(a), ranking=ranking), arms)
        for ranking in permutations(range(len(arms)))
    ]
    assert anew == pytest.approx(np.mean(ranked, axis=0), abs=1e-12)
    assert anew.sum() == pytest.approx(1, abs=1e-12)


def test_two_opposite_rewards_by_hand() -> None:
    """27 P(U_1 = 0..3) = 8, 12, 6, 1 for U_1 ~ B(3, 1/3), and the reverse for U_2 ~ B(3, 2/3)."""
    above = (12 * 1 + 6 * 7 + 1 * 19) / 27**2
    tied = (8 * 1 + 12 * 6 + 6 * 12 + 1 * 8) / 27**2
    exact = [above + tied / 2, 1 - above - tied / 2]
    assert giro_probabilities(1)([1, 1], [0, 1]) == pytest.approx(exact)


def test_untried_arms_come_first_and_tie() -> None:
    assert giro_probabilities(1)([0, 3, 0], [0, 3, 0]) == pytest.approx([0.5, 0, 0.5])
    assert giro_probabilities(1, ranking=(2, 1, 0))([0, 3, 0], [0, 3, 0]) == pytest.approx(
        [0, 0, 1]
    )


def test_fifths_and_tenths_tie() -> None:
    """With a = 1/3, histories of three and six rewards have five and ten entries."""
    values = [naive.arm_values(Fraction(1, 3), s, v) for s, v in ((3, 1), (6, 2))]
    first, second = (naive.choices(values, ranking) for ranking in ((0, 1), (1, 0)))
    assert first[0] - second[0] > Fraction(1, 10)  # so much depends on ties here
    assert giro_probabilities(1 / 3, ranking=(0, 1))([3, 6], [1, 2])[0] == pytest.approx(
        float(first[0])
    )
    assert giro_probabilities(1 / 3, ranking=(1, 0))([3, 6], [1, 2])[0] == pytest.approx(
        float(second[0])
    )


def test_denominators_beyond_64_bits_are_compared_exactly() -> None:
    primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53]
    assert math.lcm(*primes) > 2**63
    assert giro_probabilities(0)(primes, primes) == pytest.approx(np.full(16, 1 / 16))
    exact = naive.choices([naive.arm_values(Fraction(0), s, 1) for s in primes[:2]])
    zeros = [0] * 14
    found = giro_probabilities(0)(primes, [1, 1, *zeros])
    both_zero = (1 / 2) ** 2 * (2 / 3) ** 3
    assert found[:2] == pytest.approx(np.array(exact, float) - both_zero * (1 / 2 - 1 / 16))
    assert found[2:] == pytest.approx(np.full(14, both_zero / 16))


def test_bootstrapping_first_pulls_the_arms_in_order() -> None:
    law = bootstrap_probabilities(2, ranking=(1, 0))
    assert law([0, 0], [0, 0]).tolist() == [1, 0]
    assert law([1, 0], [0, 0]).tolist() == [1, 0]
    assert law([2, 0], [0, 0]).tolist() == [0, 1]
    assert law([2, 1], [0, 0]).tolist() == [0, 1]
    assert law([2, 2], [0, 0]).tolist() == [0, 1]  # a tie
    assert bootstrap_probabilities(2, ranking=(0, 1))([2, 2], [0, 0]).tolist() == [1, 0]
    assert bootstrap_probabilities(2)([2, 2], [0, 1]) == pytest.approx([1 / 8, 7 / 8])


def test_literal_resampling_follows_the_law(seed: int) -> None:
    rng = stream(seed)
    rewards = [[1, 0, 0, 1], [0, 0, 1]]
    a = Fraction(1, 3)
    draws = [_drawn_arm(rewards, a, rng) for _ in range(5_000)]
    assert_follows(draws, giro_probabilities(1 / 3)([4, 3], [2, 1]))


def test_literal_resampling_with_the_wrong_a_does_not(seed: int) -> None:
    rng = stream(seed)
    draws = [_drawn_arm([[1, 0, 0, 1], [0, 0, 1]], Fraction(1), rng) for _ in range(5_000)]
    with pytest.raises(AssertionError):
        assert_follows(draws, giro_probabilities(0)([4, 3], [2, 1]))


def _drawn_arm(rewards: list[list[int]], a: Fraction, rng: np.random.Generator) -> int:
    drawn = [naive.drawn_value(observed, a, rng) for observed in rewards]
    tied = [arm for arm, value in enumerate(drawn) if value == max(drawn)]
    return tied[rng.integers(len(tied))]


@pytest.mark.parametrize(
    ("pulls", "ones"), [([1, 2], [0]), ([1], [2]), ([1], [-1]), ([], []), ([[1]], [[1]])]
)
def test_impossible_histories_are_refused(pulls, ones) -> None:
    with pytest.raises(BadParameter, match="ones"):
        giro_probabilities(1)(pulls, ones)


def test_impossible_parameters_are_refused() -> None:
    with pytest.raises(BadParameter, match="a >= 0"):
        giro_probabilities(-1)
    with pytest.raises(BadParameter, match="pulls=0"):
        bootstrap_probabilities(0)
    with pytest.raises(BadParameter, match="ranking"):
        giro_probabilities(1, ranking=(0, 0))
    with pytest.raises(BadParameter, match="ranking"):
        bootstrap_probabilities(1, ranking=(1, 2))
    with pytest.raises(BadParameter, match="all 3 arms"):
        giro_probabilities(1, ranking=(1, 0))([1, 1, 1], [0, 0, 0])
