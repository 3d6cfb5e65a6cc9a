"""From numbers and words to columns, and to pairs of hashed features."""

import json

import pytest

from giro import BadParameter
from giro.features import Encoder, Hasher, declared
from giro.hashing import IS_NUMBER, code_of, is_crossed, sparse_row, sparse_rows

FEATURES = {"age": "number", "country": ["de", "fr"], "page": "hashed:4"}


def test_encoders_are_written_and_read_and_those_of_0_1_0_have_no_column_for_new_words() -> None:
    encoder = Encoder(0, declared(FEATURES))
    assert Encoder.from_json(json.loads(json.dumps(encoder.to_json()))) == encoder
    old = {"n_given": 0, "features": [["age", "number"], ["country", ["de", "fr"]]], "bias": True}
    kept = Encoder.from_json(old)
    assert kept.encode({"age": 3, "country": "fr"}).tolist() == [3.0, 0.0, 1.0]
    assert kept.is_number.tolist() == [True, False, False]
    with pytest.raises(BadParameter, match="'country' is one of de, fr; got 'it'"):
        kept.encode({"age": 3, "country": "it"})


def test_features_are_multiplied_where_an_interaction_joins_them() -> None:
    hasher = Hasher(("user*item", "hour*price", "device.os*shop.town"))
    given = {"user": {"age": 3}, "device": {"os": "x"}, "hour": 14}
    user, device, hour = sparse_row(hasher.context(given)).column.tolist()
    rows = hasher.arms({"a": {"item": {"colour": "red"}, "price": 3.5, "shop": {"city": "y"}}})
    item, price, shop = sparse_row(rows[0]).column.tolist()
    joined = {(a, b) for a in (user, device, hour) for b in (item, price, shop) if is_crossed(a, b)}
    assert joined == {(user, item), (hour, price)}
    whole = Hasher(("context*price",))
    (priced,) = sparse_row(whole.arms({"a": {"price": 3.5}})[0]).column.tolist()
    assert all(is_crossed(a, priced) for a in sparse_row(whole.context(given)).column.tolist())
    every = Hasher()
    code = sparse_row(every.context(given)).column.tolist()[1]
    assert is_crossed(code, sparse_row(every.arms(["a"])[0]).column.tolist()[0])
    none = Hasher(())
    assert not is_crossed(
        *(int(row[0]) for row in (none.context({"x": "y"}), none.arms({"a": {"x": "y"}})[0]))
    )


def test_rows_of_pairs_have_what_was_given() -> None:
    row = sparse_row(Hasher().context({"n": 0.0, "word": "w", "gone": None, "_hidden": 1}))
    assert row.column.tolist() == [code_of("n"), code_of("word", "w")]
    assert row.value.tolist() == [0.0, 1.0]
    nested = Hasher().context({"user": {"likes": ["jazz", "rock"], "at": [1.5, 2.5], "new": True}})
    codes = [
        code_of("user.likes", "jazz"),
        code_of("user.likes", "rock"),
        code_of("user.at.0"),
        code_of("user.at.1"),
        code_of("user.new", "True"),
    ]
    assert sparse_row(nested).column.tolist() == codes
    assert sparse_row(nested).value.tolist() == [1.0, 1.0, 1.5, 2.5, 1.0]
    rows = sparse_rows(Hasher().arms({"a": {"x": "y", "z": 3}, "b": {}, "c": {"z": 2}}))
    assert rows.begin.tolist() == [0, 2, 3, 4]
    assert rows.column.tolist() == [
        code_of("x", "y"),
        code_of("z"),
        code_of("arm", "b"),
        code_of("z"),
    ]
    assert rows.value.tolist() == [1.0, 3.0, 1.0, 2.0]


def test_numbers_are_marked_only_if_they_are_to_be_standardised() -> None:
    plain_codes = sparse_row(Hasher(None, standardised=False).context([2.0, 3.0])).column
    assert plain_codes.tolist() == [code_of("0") - IS_NUMBER, code_of("1") - IS_NUMBER]
