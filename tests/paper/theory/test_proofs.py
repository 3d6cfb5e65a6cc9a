"""The lemmas of Appendix C."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paper.theory import naive

from giro.errors import BadParameter
from giro.paper.theory.proofs import (
    _statement,
    bootstrap_checks,
    history_bound,
    history_checks,
    last_interval,
    stirling_bound,
    stirling_checks,
)
from giro.paper.theory.terms import check_at_most

probability = st.floats(1e-6, 1)


@settings(max_examples=60, deadline=None, database=None)
@given(n=st.integers(1, 80), p=probability)
def test_lemma_2_holds_for_every_decreasing_function(n: int, p: float) -> None:
    checks = history_checks(n, p)
    assert len(checks) == n + 1
    assert all(check.holds for check in checks)


def test_lemma_2_fails_for_a_probability_of_zero() -> None:
    """The smallest i with (i + 1) sqrt(n) >= 0 is -1: e^-2 f(0) does not bound f(0)."""
    first = history_checks(5, 0.0)[0]
    assert last_interval(5, 0.0) == -1
    assert (first.lhs, first.rhs) == pytest.approx((1, math.exp(-2)))
    assert not first.holds
    assert history_bound(5, 0.0, lambda x: 1.0, last=0) == 1.0


@settings(max_examples=100, deadline=None, database=None)
@given(n=st.integers(1, 10_000), p=st.floats(0, 1))
def test_the_last_interval_is_the_smallest_that_reaches(n: int, p: float) -> None:
    last = last_interval(n, p)
    assert (last + 1) * math.sqrt(n) >= p * n
    assert last * math.sqrt(n) < p * n or last == -1


def test_both_sides_of_lemma_2_by_hand() -> None:
    """With n = 4 and p = 3/4, i_0 = 1: f(1) + e^-2 f(0)."""
    assert last_interval(4, 0.75) == 1
    assert history_bound(4, 0.75, lambda x: 10 - x, last=1) == pytest.approx(9 + 10 * math.exp(-2))
    lhs = [check.lhs for check in history_checks(4, 0.75)]
    assert lhs == pytest.approx([1 / 256, 13 / 256, 67 / 256, 175 / 256, 1])


@settings(max_examples=80, deadline=None, database=None)
@given(n=st.integers(1, 60), p=st.floats(0, 1), k=st.integers(1, 200), share=st.floats(0, 1))
def test_lemma_3_holds(n: int, p: float, k: int, share: float) -> None:
    (check,) = bootstrap_checks(n, p, k / n, [share])
    assert check.holds


def test_both_sides_of_lemma_3_by_hand() -> None:
    """With n = 1, a = 1, p = 1/2 and x = 0: 7/27, and b = 3/2 times (3/2)^2 in the exponent."""
    (check,) = bootstrap_checks(1, 0.5, 1, [0])
    assert math.exp(check.lhs) == pytest.approx(7 / 27)
    bound = math.sqrt(2 * math.pi) / (math.e**2 * math.sqrt(3)) * math.exp(-1.5 * 2.25)
    assert math.exp(check.rhs) == pytest.approx(bound)


@settings(max_examples=60, deadline=None, database=None)
@given(n=st.integers(1, 150), p=st.floats(1e-6, 1 - 1e-6))
def test_lemma_4_holds_between_its_ends_only(n: int, p: float) -> None:
    for check in stirling_checks(n, p):
        assert check.holds == (0 < check.at["x"] < n)


def test_both_sides_of_lemma_4_match_fractions() -> None:
    p = Fraction(1, 3)
    for x, check in enumerate(stirling_checks(6, 1 / 3)):
        assert math.exp(check.lhs) == pytest.approx(float(naive.binomial(x, 6, p)))
    plain = math.sqrt(2 * math.pi) / math.e**2 * math.sqrt(6 / 8) * math.exp(-4 / (2 / 9 * 6))
    assert math.exp(stirling_bound(4, 6, 1 / 3)) == pytest.approx(plain)


def test_a_larger_constant_would_break_lemma_4() -> None:
    """It is within 4.1 % of equality at n = 2, x = 1, p = 1/2: a check that could fail."""
    margins = [check.margin for check in stirling_checks(2, 0.5)]
    assert margins[1] == pytest.approx(0.04134, abs=1e-5)


def test_bad_input_is_refused() -> None:
    with pytest.raises(BadParameter, match="n=0"):
        history_checks(0, 0.5)
    with pytest.raises(BadParameter, match="a > 0"):
        bootstrap_checks(3, 0.5, 0, [0])
    with pytest.raises(BadParameter, match="integer"):
        bootstrap_checks(3, 0.5, 0.5, [0])
    for p in (0.0, 1.0):
        with pytest.raises(BadParameter, match="0 < p < 1"):
            stirling_checks(3, p)


def test_a_violated_lemma_is_reported_with_where() -> None:
    checks = [check_at_most("x", 1.0, 2.0, n=1), check_at_most("x", 3.0, 2.0, n=7)]
    statement = _statement("x", checks)
    assert statement.word == "fails"
    assert statement.figures == "1 of 2 cases violated, first at n = 7"
