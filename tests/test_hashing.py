"""Features by name: codes, keys and rows of pairs."""

import numpy as np
import pytest
from laws import assert_follows

from giro.compiling import plain
from giro.features import Hasher
from giro.hashing import (
    IS_NUMBER,
    KEYS,
    MOST_CROSSES,
    OF_ARM,
    OF_ROUND,
    code_of,
    crossed_by,
    is_crossed,
    key_of,
    mixed,
    product_key,
    sparse_row,
    sparse_rows,
)


def test_mixing_is_one_to_one_and_the_same_in_python() -> None:
    keys = [*range(5000), *range(KEYS - 5000, KEYS), *(7**i % KEYS for i in range(5000))]
    found = [mixed(key) for key in keys]
    assert len(set(found)) == len(set(keys))
    assert all(0 <= key < KEYS for key in found)
    assert found == [plain(mixed)(key) for key in keys]
    assert product_key(3, 5) == plain(product_key)(3, 5) != product_key(5, 3)


@pytest.mark.parametrize("what", ["columns", "words", "products"])
def test_keys_fill_all_columns_evenly(what: str) -> None:
    n, columns = 20_000, 64
    if what == "columns":
        keys = [key_of(column, OF_ARM) for column in range(n)]
    elif what == "words":
        keys = [key_of(code_of("film", f"m{i}"), OF_ROUND) for i in range(n)]
    else:
        left = [key_of(i, OF_ROUND) for i in range(100)]
        keys = [product_key(key, key_of(j, OF_ARM)) for key in left for j in range(n // 100)]
    assert_follows(np.array(keys) & (columns - 1), np.full(columns, 1 / columns))


def test_pairs_of_pairs_do_not_meet_more_often_than_chance() -> None:
    keys = {
        product_key(key_of(i, OF_ROUND), key_of(j, OF_ARM)) for i in range(300) for j in range(300)
    }
    expected = 90_000**2 / 2 / KEYS  # those that meet among as many random keys
    assert 90_000 - len(keys) < expected + 6 * expected**0.5


def test_the_sides_have_different_keys() -> None:
    assert all(key_of(code, OF_ROUND) != key_of(code, OF_ARM) for code in range(1000))


def test_codes_are_the_same_for_ever_and_fit_into_a_float() -> None:
    assert code_of("topic", "sport") == 1657103244
    assert code_of("age") == IS_NUMBER + 1022930814
    largest = crossed_by(KEYS - 1 + IS_NUMBER, (1 << (MOST_CROSSES + 2)) - 1)
    assert largest < 2**53


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
