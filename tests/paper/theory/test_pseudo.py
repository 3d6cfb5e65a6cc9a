"""How many pseudo rewards of each kind."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from giro.errors import BadParameter
from giro.paper.theory.pseudo import is_whole, pseudo_counts, rounded_up, whole_pseudo_count


@settings(max_examples=200, deadline=None, database=None)
@given(numerator=st.integers(0, 50), denominator=st.integers(1, 50), s=st.integers(0, 20_000))
def test_counts_are_those_of_exact_arithmetic(numerator: int, denominator: int, s: int) -> None:
    exact = Fraction(numerator, denominator) * s
    counts = pseudo_counts(numerator / denominator, s)
    assert (counts.floor, counts.ceil) == (math.floor(exact), math.ceil(exact))
    assert counts.probability_of_ceil == pytest.approx(float(exact - counts.floor), abs=1e-9)


def test_a_third_of_three_is_one_at_any_scale() -> None:
    for s in range(3, 30_000, 3):
        assert pseudo_counts(1 / 3, s) == (s // 3, s // 3, 0.0)


def test_a_tenth_of_twelve_leaves_a_fifth() -> None:
    assert pseudo_counts(0.1, 12) == (1, 2, pytest.approx(0.2))


@pytest.mark.parametrize("a", [-0.1, math.nan, math.inf])
def test_an_impossible_number_of_pseudo_rewards_is_refused(a: float) -> None:
    with pytest.raises(BadParameter, match="a >= 0"):
        pseudo_counts(a, 3)


def test_a_formula_for_whole_numbers_refuses_others() -> None:
    assert whole_pseudo_count(0.1, 30) == 3
    with pytest.raises(BadParameter, match="integer"):
        whole_pseudo_count(0.1, 31)


def test_rounding_up_forgives_rounding_errors_only() -> None:
    assert rounded_up(3 * 0.1 * 10) == 3
    assert rounded_up(3 + 1e-6) == 4
    assert rounded_up(-0.5) == 0
    assert is_whole(1e12 + 1e-4)
    assert not is_whole(0.001)
