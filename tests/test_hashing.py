"""Features by name: codes, keys and rows of pairs."""

import numpy as np
import pytest
from laws import assert_follows

from giro.compiling import plain
from giro.hashing import (
    IS_NUMBER,
    KEYS,
    MOST_CROSSES,
    OF_ARM,
    OF_ROUND,
    code_of,
    crossed_by,
    key_of,
    mixed,
    product_key,
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
