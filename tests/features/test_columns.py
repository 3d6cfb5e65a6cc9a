"""Contexts as rows in which every column has a meaning of its own, and new names get more."""

import datetime
import json
import math
from typing import Any

import numpy as np
import pytest

from giro import BadParameter
from giro.features.columns import HASH_COLUMNS, NUMBER, Columns, Feature, declared
from giro.hashing import code_of
from giro.seeds import stream

NAN = math.nan
FEATURES = {"age": "number", "country": ["de", "fr"], "page": "hashed:4"}
DECLARED = Columns(0, declared(FEATURES))


def row_of(columns: Columns, given: Any) -> list[float]:
    row, new = columns.encode(given)
    assert new == ()
    return row.tolist()


def same(left: Any, right: Any) -> bool:
    return bool(np.array_equal(left, right, equal_nan=True))


# -- encoding ----------------------------------------------------------------------------------


def test_a_number_is_a_column_and_a_word_sets_one_of_the_columns_of_its_feature() -> None:
    page = [0.0] * 4
    page[code_of("page", "home") % 4] = 1.0
    row = row_of(DECLARED, {"page": "home", "age": 3, "country": "fr"})
    assert row == [3.0, 0.0, 1.0, 0.0, *page]
    assert row_of(DECLARED, {"age": True, "country": "it"})[:4] == [1.0, 0.0, 0.0, 1.0]
    assert DECLARED.is_number.tolist() == [True] + 7 * [False]
    assert DECLARED.names() == ["age", *3 * ["country"], *4 * ["page"]]
    assert DECLARED.n_columns == 8


@pytest.mark.parametrize("given", [{}, None, {"age": None}, {"age": NAN, "country": None}])
def test_what_is_not_there_is_missing_for_numbers_and_zero_for_words(given: Any) -> None:
    assert same(row_of(DECLARED, given), [NAN] + 7 * [0.0])


def test_lists_of_words_set_several_columns_and_dates_are_days() -> None:
    columns = Columns(0, declared({"likes": ["jazz", "rock"], "since": "number", "p.0": "number"}))
    given = {"likes": ["rock", "jazz", "tango"], "since": datetime.date(1970, 1, 11), "p": [7]}
    assert row_of(columns, given) == [1.0, 1.0, 1.0, 10.0, 7.0]


def test_names_that_begin_with_an_underscore_are_left_out() -> None:
    columns = Columns.of_names(["x"])
    assert row_of(columns, {"x": 1.0, "_x": 5.0, "_y": object()}) == [1.0]
    assert columns.encode({"_z": 1.0}).new == ()


def test_sequences_keep_their_length() -> None:
    columns = Columns(3)
    assert same(row_of(columns, [1, None, 2.5]), [1.0, NAN, 2.5])
    assert columns.names() == ["0", "1", "2"]
    assert columns.is_number.all()
    for wrong, message in (
        ([1.0, 2.0], "wants a context of 3 numbers, got 2 numbers"),
        ({"x": 1.0}, "wants a context of 3 numbers, got a mapping"),
        (None, "every decision of this bandit needs a context"),
    ):
        with pytest.raises(BadParameter, match=message):
            columns.encode(wrong)
    with pytest.raises(BadParameter, match="wants a context of the features x, got 1 numbers"):
        Columns.of_names(["x"]).encode([1.0])
    with pytest.raises(BadParameter, match="wants no context, got 2 numbers"):
        Columns().encode([1.0, 2.0])


def test_a_row_is_the_callers_own() -> None:
    columns = Columns.of_names(["x", "y"])
    columns.encode({"x": 1.0}).row[:] = 9.0
    columns.encode({}).row[:] = 9.0
    assert same(row_of(columns, {}), [NAN, NAN])


@pytest.mark.parametrize("large", [1e150, 1e151, -1e300, math.inf])
def test_numbers_that_cannot_be_squared_are_an_error_also_on_the_quick_way(large: float) -> None:
    columns = Columns.of_names(["x"])
    if large == 1e150:
        assert row_of(columns, {"x": large}) == [large]
        return
    with pytest.raises(BadParameter, match=r"feature 'x' is a number within ±1e\+150"):
        columns.encode({"x": large})


# -- new names ---------------------------------------------------------------------------------


def test_new_names_are_told_and_get_columns_at_the_end_in_the_order_of_names() -> None:
    columns = Columns.of_names(["m"])
    row, new = columns.encode({"z": 1.0, "m": 2.0, "a": {"b": "word"}, "z2": None})
    assert row.tolist() == [2.0]
    assert new == (Feature("z", NUMBER), Feature("a.b", HASH_COLUMNS))
    grown = columns.grown(new, 100)
    assert [f.name for f in grown.features] == ["m", "a.b", "z"]
    assert grown.n_columns == 1 + HASH_COLUMNS + 1
    later = row_of(grown, {"z": 1.0, "m": 2.0, "a": {"b": "word"}})
    assert (later[0], later[-1], sum(later[1:-1])) == (2.0, 1.0, 1.0)
    assert grown.grown(new, 100) == grown
    assert columns.lacks(new)
    assert columns.lacks(new[1:])
    assert not grown.lacks(new)
    assert not columns.lacks([Feature("m", NUMBER)])


def test_what_was_there_keeps_its_place_whatever_comes(seed: int) -> None:
    rng = stream(seed)
    columns, history = Columns(), list[tuple[dict[str, Any], np.ndarray]]()
    for _ in range(60):
        names = rng.choice(list("abcdefghij"), 3, replace=False)
        given = {str(n): rng.choice(["v", "w"]).item() if n > "e" else rng.random() for n in names}
        columns = columns.grown(columns.encode(given).new, 1000)
        row, new = columns.encode(given)
        assert new == ()
        history.append((given, row))
    for given, row in history:
        now = columns.encode(given).row
        assert same(now[: row.size], row)
        rest = columns.is_number[row.size :]
        assert same(now[row.size :], np.where(rest, NAN, 0.0))


def test_features_that_find_no_room_are_left_out_and_smaller_ones_still_fit() -> None:
    columns = Columns.of_names(["x"])
    new = columns.encode({"a": "word", "b": 1.0, "c": 2.0}).new
    grown = columns.grown(new, 2)
    assert [f.name for f in grown.features] == ["x", "b"]
    assert grown.lacks(new)
    assert same(row_of(grown.grown((), 2), {"x": 1.0, "b": 2.0}), [1.0, 2.0])


def test_a_name_is_a_number_here_and_a_word_there_as_two_features_side_by_side() -> None:
    columns = Columns.of_names(["x"])
    grown = columns.grown(columns.encode({"x": "word"}).new, 100)
    assert [f.kind for f in grown.features] == [NUMBER, HASH_COLUMNS]
    word, number = row_of(grown, {"x": "word"}), row_of(grown, {"x": 3.0})
    assert math.isnan(word[0])
    assert sum(word[1:]) == 1.0
    assert number == [3.0] + HASH_COLUMNS * [0.0]
    both = row_of(grown, {"x": ["word", {"y": None}]})
    assert same(both, word)
    first = Columns().encode({"x": [{"y": 1.0}, {"y": "word"}]}).new
    assert first == (Feature("x.y", NUMBER), Feature("x.y", HASH_COLUMNS))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"age": "old"}, "feature 'age' is a number, got 'old'"),
        ({"country": 3}, r"feature 'country' is a word, got 3\.0"),
        ({"page": True}, r"feature 'page' is a word, got 1\.0"),
    ],
)
def test_declared_features_are_what_was_declared(given: Any, message: str) -> None:
    with pytest.raises(BadParameter, match=message):
        DECLARED.encode(given)
    assert DECLARED.encode({"other": 3.0}).new == (Feature("other", NUMBER),)


def test_columns_as_they_were_when_there_were_fewer() -> None:
    small = Columns.of_names(["a", "b"])
    middle = small.grown([Feature("w", HASH_COLUMNS)], 100)
    large = middle.grown([Feature("c", NUMBER)], 100)
    assert large.upto(2) == small
    assert large.upto(2 + HASH_COLUMNS) == middle
    assert large.upto(large.n_columns) == large
    assert large.upto(0) == Columns()
    assert Columns(3).upto(3) == Columns(3)


# -- there and back ----------------------------------------------------------------------------


def test_columns_are_written_and_read() -> None:
    for columns in (DECLARED, Columns(4), Columns(), DECLARED.grown([Feature("n", NUMBER)], 99)):
        plain = json.loads(json.dumps(columns.to_json()))
        assert Columns.from_json(plain, columns.noun) == columns


def test_a_row_is_decoded_to_a_context_that_encodes_to_it() -> None:
    columns = Columns(0, declared({"age": "number", "likes": ["jazz", "rock"]}))
    for given in (
        {"age": 3.0, "likes": "jazz"},
        {"age": None, "likes": ["jazz", "rock"]},
        {"age": 0.0},
    ):
        row = columns.encode(given).row
        assert columns.decode(row) == given
        assert same(columns.encode(columns.decode(row)).row, row)
    unheard = columns.encode({"age": 3.0, "likes": "tango"}).row
    assert columns.decode(unheard) == {"age": 3.0, "likes": None}  # which word it was is lost
    assert same(Columns(2).decode(np.array([1.0, 2.0])), [1.0, 2.0])
    with pytest.raises(BadParameter, match="the words of 'page' were hashed to 4 columns"):
        DECLARED.decode(DECLARED.encode({}).row)


def test_columns_find_those_of_the_same_meaning_elsewhere() -> None:
    one = Columns(0, declared({"a": "number", "w": ["x", "y"], "h": 3}))
    other = Columns(0, declared({"h": 3, "w": ["y", "z", "x"], "a": "number"}))
    assert dict(one.moved_to(other)) == {0: 7, 1: 5, 2: 3, 3: 6, 4: 0, 5: 1, 6: 2}
    hashed = Columns(0, declared({"a": "number", "w": 8, "h": 3}))
    moved = dict(one.moved_to(hashed))
    assert moved[1] == 1 + code_of("w", "x") % 8
    assert 3 not in moved  # of other words nothing is known there
    with pytest.raises(BadParameter, match="the words of 'h' are hashed to 3 columns there"):
        list(one.moved_to(Columns(0, declared({"a": "number", "w": 8, "h": 4}))))


def test_parts_of_interactions_are_features_and_mappings_that_hold_them() -> None:
    columns = Columns.of_names(["user.age", "user.home.x", "username", "hour"])
    assert columns.columns_in("user", "context") == [0, 1]
    assert columns.columns_in("user.home", "context") == [1]
    assert columns.columns_in("hour", "context") == [3]
    assert columns.columns_in("context", "context") == [0, 1, 2, 3]
    assert columns.columns_in("nobody", "context") == []
    assert Columns(2).columns_in("1", "context") == [1]


def test_columns_say_what_fits() -> None:
    assert str(Columns()) == "no context"
    assert str(Columns(3)) == "a context of 3 numbers"
    assert str(DECLARED) == "a context of the features age, country, page"
    assert len(str(Columns.of_names(f"feature{i}" for i in range(2_000)))) < 150


# -- declarations ------------------------------------------------------------------------------


def test_features_are_declared_in_a_few_forms() -> None:
    given = {"a": "number", "b": ["x"], "c": ("x", "y"), "d": "hashed", "e": "hashed:7", "f": 5}
    kinds = [feature.kind for feature in declared(given)]
    assert kinds == [NUMBER, ("x", None), ("x", "y", None), HASH_COLUMNS, 7, 5]
    assert all(feature.declared for feature in declared(given))


@pytest.mark.parametrize("kind", ["word", "hashed:", "hashed:0", 0, -1, True, [], ["x", "x"], [1]])
def test_anything_else_is_an_error_that_says_what_there_is(kind: Any) -> None:
    with pytest.raises(BadParameter, match="feature 'a' is 'number', a list of different words"):
        declared({"a": kind})


@pytest.mark.parametrize("features", [{}, [], "number", ["age"]])
def test_features_are_a_mapping(features: Any) -> None:
    with pytest.raises(BadParameter, match="features maps names to what they are"):
        declared(features)
