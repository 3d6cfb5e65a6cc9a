"""Features as codes: any names and words, nested, and any of them missing."""

from typing import Any

import numpy as np
import pytest

from giro import BadParameter
from giro.features.hashed import Hashed
from giro.features.walk import leaves
from giro.hashing import IS_NUMBER, code_of, is_crossed
from giro.offer import SparseRow
from giro.seeds import stream


def codes_of(row: SparseRow) -> list[int]:
    return [int(code) for code in row.column]


def arm_codes(hashed: Hashed, features: Any) -> list[int]:
    return [int(code) for code in hashed.arms({"a": features}).column]


def test_features_are_multiplied_where_an_interaction_joins_them() -> None:
    hashed = Hashed(("user*item", "hour*price", "device.os*shop.town"))
    given = {"user": {"age": 3}, "device": {"os": "x"}, "hour": 14}
    user, device, hour = codes_of(hashed.context(given))
    item, price, shop = arm_codes(
        hashed, {"item": {"colour": "red"}, "price": 3.5, "shop": {"city": "y"}}
    )
    joined = {(a, b) for a in (user, device, hour) for b in (item, price, shop) if is_crossed(a, b)}
    assert joined == {(user, item), (hour, price)}
    whole = Hashed(("context*price",))
    (priced,) = arm_codes(whole, {"price": 3.5})
    assert all(is_crossed(a, priced) for a in codes_of(whole.context(given)))
    every = Hashed()
    assert is_crossed(codes_of(every.context(given))[1], int(every.arms(["a"]).column[0]))
    none = Hashed(())
    assert not is_crossed(codes_of(none.context({"x": "y"}))[0], arm_codes(none, {"x": "y"})[0])


def test_sparse_rows_have_what_was_given() -> None:
    row = Hashed().context({"n": 0.0, "word": "w", "gone": None, "_hidden": 1})
    assert codes_of(row) == [code_of("n"), code_of("word", "w")]
    assert row.value.tolist() == [0.0, 1.0]
    nested = Hashed().context({"user": {"likes": ["jazz", "rock"], "at": [1.5, 2.5], "new": True}})
    assert codes_of(nested) == [
        code_of("user.likes", "jazz"),
        code_of("user.likes", "rock"),
        code_of("user.at.0"),
        code_of("user.at.1"),
        code_of("user.new"),
    ]
    assert nested.value.tolist() == [1.0, 1.0, 1.5, 2.5, 1.0]
    rows = Hashed().arms({"a": {"x": "y", "z": 3}, "b": {}, "c": {"z": 2}, "d": None})
    assert rows.begin.tolist() == [0, 2, 3, 4, 5]
    assert rows.column.tolist() == [
        code_of("x", "y"),
        code_of("z"),
        code_of("arm", "b"),
        code_of("z"),
        code_of("arm", "d"),
    ]
    assert rows.value.tolist() == [1.0, 3.0, 1.0, 2.0, 1.0]


def test_nothing_is_a_row_without_features_and_numbers_of_a_list_have_their_place_as_name() -> None:
    assert codes_of(Hashed().context(None)) == codes_of(Hashed().context({})) == []
    gap: Any = [2.0, None, 3.0]
    row = Hashed().context(gap)
    assert codes_of(row) == [code_of("0"), code_of("2")]
    assert row.value.tolist() == [2.0, 3.0]
    names = Hashed().arms(["a", "b"])
    assert names.begin.tolist() == [0, 1, 2]
    assert names.column.tolist() == [code_of("arm", "a"), code_of("arm", "b")]


def test_a_name_may_be_a_number_here_and_a_word_there() -> None:
    hashed = Hashed()
    assert codes_of(hashed.context({"x": 1.0})) == [code_of("x")]
    assert codes_of(hashed.context({"x": "1.0"})) == [code_of("x", "1.0")]
    assert codes_of(hashed.context({"x": 2.0})) == [code_of("x")]


@pytest.mark.parametrize("interactions", [None, ("user*item", "n*arm")])
def test_codes_that_were_met_before_are_those_of_the_first_time(
    interactions: tuple[str, ...] | None,
) -> None:
    rng = stream(5)
    used = Hashed(interactions)
    for _ in range(300):
        given = {
            "n": float(rng.integers(9)),
            "_n": 1.0,
            "user": {"town": f"t{rng.integers(5)}", "likes": ["a", "b"][: rng.integers(3)]},
            "word": f"w{rng.integers(5)}",
            "gone": float("nan"),
        }
        for side in ("context", "arms"):
            asked = given if side == "context" else {"a": given}
            found, fresh = (getattr(each, side)(asked) for each in (used, Hashed(interactions)))
            for one, other in zip(found, fresh, strict=True):
                np.testing.assert_array_equal(one, other)
        plain = list(leaves(given))
        assert used.context(given).value.tolist() == [
            1.0 if isinstance(value, str) else value for _, value in plain
        ]


def test_more_words_than_are_remembered_have_the_same_codes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("giro.features.hashed._MOST_CODES", 10)
    hashed = Hashed()
    for turn in range(2):
        for i in range(50):
            assert codes_of(hashed.context({"x": f"w{i}"})) == [code_of("x", f"w{i}")], turn
    assert len(hashed._codes[0]) <= 10


def test_numbers_are_marked_only_if_they_are_to_be_standardised() -> None:
    given = {"x": 2.0, "y": True, "z": "word"}
    marked, bare = (codes_of(Hashed(None, flag).context(given)) for flag in (True, False))
    assert marked == [code_of("x"), code_of("y"), code_of("z", "word")]
    assert bare == [code_of("x") - IS_NUMBER, code_of("y") - IS_NUMBER, code_of("z", "word")]
    places = codes_of(Hashed(None, standardise=False).context([2.0, 3.0]))
    assert places == [code_of("0") - IS_NUMBER, code_of("1") - IS_NUMBER]


def test_a_bad_value_names_its_arm_and_feature() -> None:
    with pytest.raises(BadParameter, match=r"arm 'b': feature 'x\.y' is a number, got <object"):
        Hashed().arms({"a": {"x": 1}, "b": {"x": {"y": object()}}})
    with pytest.raises(BadParameter, match="arm 'b': a row of features is a list of numbers"):
        Hashed().arms({"b": []})
    with pytest.raises(BadParameter, match="a context is a list of numbers"):
        Hashed().context("words")
