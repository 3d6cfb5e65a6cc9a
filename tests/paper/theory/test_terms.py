"""Means and gaps, pseudo rewards, binomial probabilities, and statements with numbers put in."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paper.theory import naive

from giro.errors import BadParameter
from giro.paper.theory.terms import (
    binomial_tail,
    check_at_least,
    check_at_most,
    check_equals,
    check_rounds,
    check_trials,
    checked_means,
    is_whole,
    log_binomial,
    log_binomial_tail,
    pseudo_counts,
    rounded_up,
    suboptimal_arms,
    whole_pseudo_count,
)


def test_the_best_arm_may_stand_anywhere() -> None:
    assert suboptimal_arms([0.25, 0.75, 0.5]) == [(0, 0.25, 0.5), (2, 0.5, 0.25)]


@pytest.mark.parametrize("means", [[], [[0.1, 0.2]], [0.1, 1.1], [-0.1, 0.5], [math.nan, 0.5]])
def test_means_that_are_none_are_refused(means: list[float]) -> None:
    with pytest.raises(BadParameter, match="means"):
        checked_means(means)


def test_two_best_arms_are_refused() -> None:
    with pytest.raises(BadParameter, match="only one"):
        suboptimal_arms([0.5, 0.5, 0.1])


def test_too_few_rounds_are_refused() -> None:
    with pytest.raises(BadParameter, match="a whole number rounds >= 2, got rounds=1"):
        check_rounds(1, at_least=2)


# -- pseudo rewards -----------------------------------------------------------------------------


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
    assert pseudo_counts(0.1, 12) == pytest.approx((1, 2, 0.2))


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


# -- binomial probabilities ---------------------------------------------------------------------


trials = st.tuples(st.integers(1, 30), st.integers(0, 12))


@settings(max_examples=80, deadline=None, database=None)
@given(case=trials, y=st.integers(-2, 33))
def test_probabilities_and_tails_match_exact_fractions(case: tuple[int, int], y: int) -> None:
    n, twelfths = case
    p = Fraction(twelfths, 12)
    exact = float(naive.tail(y, n, p))
    assert binomial_tail(y, n, float(p)) == pytest.approx(exact, rel=1e-11)
    assert math.exp(log_binomial_tail(y, n, float(p))) == pytest.approx(exact, rel=1e-11)
    if 0 <= y <= n:
        one = float(naive.binomial(y, n, p))
        assert np.exp(log_binomial(y, n, float(p))) == pytest.approx(one, rel=1e-11)


def test_a_tail_too_small_for_a_float_has_a_logarithm() -> None:
    assert log_binomial_tail(1000, 1000, 0.001) == pytest.approx(1000 * math.log(0.001))


def test_a_tail_is_elementwise() -> None:
    tails = binomial_tail([0, 1, 2, 3], [2, 2, 2, 2], 0.5)
    assert tails.tolist() == pytest.approx([1, 0.75, 0.25, 0])


@pytest.mark.parametrize(("n", "p"), [(0, 0.5), (-1, 0.5), (3, -0.1), (3, 1.1), (3, math.nan)])
def test_what_is_no_binomial_law_is_refused(n: int, p: float) -> None:
    with pytest.raises(BadParameter):
        check_trials(n, p)


# -- checks -------------------------------------------------------------------------------------


def test_a_statement_holds_on_its_side_only() -> None:
    assert check_at_most("x", 1.0, 2.0).holds
    assert not check_at_most("x", 2.0, 1.0).holds
    assert check_at_least("x", 2.0, 1.0).holds
    assert not check_at_least("x", 1.0, 2.0).holds
    assert check_equals("x", 1.0, 1.0).holds
    assert not check_equals("x", 1.0, 1.0 + 1e-6).holds


def test_the_margin_is_negative_by_as_much_as_it_fails() -> None:
    assert check_at_most("x", 5.0, 2.0).margin == -3.0
    assert check_at_least("x", 5.0, 2.0).margin == 3.0


def test_rounding_is_forgiven_and_infinity_is_not() -> None:
    assert check_at_most("x", 1.0 + 1e-12, 1.0).holds
    assert not check_at_least("x", 1.0, math.inf).holds
    assert check_at_least("x", -math.inf, -math.inf).holds


def test_a_place_is_kept_as_plain_numbers() -> None:
    numbers: dict[str, Any] = {"n": np.int64(3), "p": np.float64(0.5)}
    place = check_at_most("x", 0.0, 1.0, **numbers).at
    assert place == {"n": 3, "p": 0.5}
    assert [type(value) for value in place.values()] == [int, float]
