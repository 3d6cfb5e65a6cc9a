"""Statements with numbers put in."""

import math

import numpy as np

from giro.paper.theory.checks import at_least, at_most, equals


def test_a_statement_holds_on_its_side_only() -> None:
    assert at_most("x", 1.0, 2.0).holds
    assert not at_most("x", 2.0, 1.0).holds
    assert at_least("x", 2.0, 1.0).holds
    assert not at_least("x", 1.0, 2.0).holds
    assert equals("x", 1.0, 1.0).holds
    assert not equals("x", 1.0, 1.0 + 1e-6).holds


def test_the_margin_is_negative_by_as_much_as_it_fails() -> None:
    assert at_most("x", 5.0, 2.0).margin == -3.0
    assert at_least("x", 5.0, 2.0).margin == 3.0


def test_rounding_is_forgiven_and_infinity_is_not() -> None:
    assert at_most("x", 1.0 + 1e-12, 1.0).holds
    assert not at_least("x", 1.0, math.inf).holds
    assert at_least("x", -math.inf, -math.inf).holds


def test_a_place_is_kept_as_plain_numbers() -> None:
    place = at_most("x", 0.0, 1.0, n=np.int64(3), p=np.float64(0.5)).at
    assert place == {"n": 3, "p": 0.5}
    assert [type(value) for value in place.values()] == [int, float]
