"""One walk through nested mappings, with one rule for every kind of value."""

import datetime
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from giro import BadParameter
from giro.features.walk import is_usable, leaves, number_of, number_row

ZONE = datetime.timezone(datetime.timedelta(hours=2))


@pytest.mark.parametrize(
    ("value", "leaf"),
    [
        (3, 3.0),
        (-2.5, -2.5),
        (np.float32(0.5), 0.5),
        (np.int8(-3), -3.0),
        (np.array(7.0), 7.0),
        (Decimal("1.25"), 1.25),
        (Fraction(1, 4), 0.25),
        (True, 1.0),
        (False, 0.0),
        (np.True_, 1.0),
        (datetime.date(1970, 1, 2), 1.0),
        (datetime.date(1969, 12, 31), -1.0),
        (datetime.datetime(1970, 1, 3, 12), 2.5),  # without a zone
        (datetime.datetime(1970, 1, 3, 2, tzinfo=ZONE), 2.0),
        ("word", "word"),
        ("", ""),
    ],
)
def test_a_value_becomes_one_number_or_word(value: Any, leaf: float | str) -> None:
    assert list(leaves({"x": value})) == [("x", leaf)]
    assert list(leaves({"a": {"b": {"x": value}}})) == [("a.b.x", leaf)]
    (found,) = leaves({"x": value})
    assert type(found[1]) is type(leaf)


@pytest.mark.parametrize("value", [None, math.nan, np.float32("nan"), Decimal("nan"), {}, [], ()])
def test_a_missing_value_becomes_nothing(value: Any) -> None:
    assert list(leaves({"x": value, "y": {"z": value}, "w": [value, value]})) == []


def test_names_that_begin_with_an_underscore_are_left_out_at_any_depth() -> None:
    given = {"_x": 1.0, "y": {"_z": object(), "w": 2.0}, "_v": {"u": 3.0}, "a_": 4.0}
    assert list(leaves(given)) == [("y.w", 2.0), ("a_", 4.0)]


def test_lists_share_their_name_among_words_and_mappings_and_number_their_numbers() -> None:
    given = {"likes": ["jazz", "rock"], "at": (1.5, None, 2.5), "box": [{"h": 1}, {"w": 2}]}
    assert list(leaves(given)) == [
        ("likes", "jazz"),
        ("likes", "rock"),
        ("at.0", 1.5),
        ("at.2", 2.5),
        ("box.h", 1.0),
        ("box.w", 2.0),
    ]
    matrix = list(leaves({"m": np.array([[1.0, math.nan], [3.0, 4.0]])}))
    assert matrix == [("m.0.0", 1.0), ("m.1.0", 3.0), ("m.1.1", 4.0)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({1: 2.0}, "names of features are words, got 1"),
        ({"a": {2: 1.0}}, "names of features are words, got 2"),
        ({"a": object()}, "feature 'a' is a number, got <object"),
        ({"a": {"b": b"bytes"}}, r"feature 'a.b' is a number, got b'bytes'"),
        ({"a": {1, 2}}, "feature 'a' is a number"),
        ({"a": 1j}, "feature 'a' is a number, got 1j"),
        ({"a": 1e151}, r"feature 'a' is a number within ±1e\+150, got 1e\+151"),
        ({"a": -math.inf}, r"within ±1e\+150, got -inf"),
        ({"a": 10**400}, "got one of more than 150 digits"),
        ({"x" * 500: object()}, f"feature '{'x' * 80}' is a number"),
    ],
)
def test_what_is_neither_is_an_error_that_names_the_feature(given: Any, message: str) -> None:
    with pytest.raises(BadParameter, match=message):
        list(leaves(given))


def nested(depth: int) -> dict[str, Any]:
    return {"x": nested(depth - 1)} if depth > 1 else {"x": 1.0}


def test_mappings_lie_in_each_other_ten_deep_at_most() -> None:
    assert list(leaves(nested(10))) == [(".".join("x" * 10), 1.0)]
    with pytest.raises(BadParameter, match="more than 10 deep"):
        list(leaves(nested(11)))
    endless: dict[str, Any] = {}
    endless["x"] = endless
    with pytest.raises(BadParameter, match="more than 10 deep"):
        list(leaves(endless))
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(BadParameter, match="more than 10 deep"):
        list(leaves({"x": loop}))


def test_a_row_is_a_copy_in_which_missing_numbers_are_nan() -> None:
    given = np.array([1.0, 2.0])
    row = number_row(given, "a context")
    given[:] = 9.0
    assert row.tolist() == [1.0, 2.0]
    np.testing.assert_array_equal(number_row([1, None, 3], "a context"), [1.0, math.nan, 3.0])
    np.testing.assert_array_equal(number_row((True, math.nan), "a context"), [1.0, math.nan])
    dated = number_row([datetime.date(1970, 1, 2), Fraction(1, 2)], "a context")
    assert dated.tolist() == [1.0, 0.5]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "a context is a list of numbers, or a mapping"),
        (3.0, "a context is a list of numbers, or a mapping"),
        ([[1.0, 2.0]], "a context is a list of numbers"),
        (["a", "b"], "a context is a list of numbers"),
        ([[1.0], [1.0, 2.0]], "a context holds numbers"),
        ([1.0, "a", None], "a context is|a context holds a number"),
        ([1.0, object()], "a context holds a number, got <object"),
        ([1.0, math.inf], r"a context holds numbers within ±1e\+150"),
        ([1.0, -1e200], r"a context holds numbers within ±1e\+150"),
        ([None, 1e200], r"a context holds a number within ±1e\+150"),
    ],
)
def test_what_is_no_row_of_numbers_is_an_error(given: Any, message: str) -> None:
    with pytest.raises(BadParameter, match=message):
        number_row(given, "a context")


def test_numbers_have_one_rule_and_rows_the_same() -> None:
    assert math.isnan(number_of("x is", None))
    assert number_of("x is", 1e150) == 1e150
    with pytest.raises(BadParameter, match=r"^x is a number, got 'a'$"):
        number_of("x is", "a")
    assert is_usable(np.array([1e150, math.nan, -1e150]))
    assert is_usable(np.empty(0))
    assert not is_usable(np.array([math.nan, 1.1e150]))
    assert not is_usable(np.array([[0.0, -math.inf]]))
