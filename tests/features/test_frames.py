"""Columns of tables, and records, as rows of numbers."""

import datetime
import math
from typing import Any

import numpy as np
import polars as pl
import pytest

from giro import BadParameter
from giro.features.columns import HASH_COLUMNS, NUMBER
from giro.features.frames import columns_of_frame, columns_of_records, matrix_of_columns, padded

NAN = math.nan
FRAME = pl.DataFrame(
    {
        "n": [1, None, 3],
        "t": [True, False, None],
        "d": [datetime.date(1970, 1, 2), None, datetime.date(1969, 12, 31)],
        "w": ["b", None, "a"],
        "v": [[1.0, 2.0], [3.0], None],
    }
)


def test_columns_of_a_table_become_numbers_under_their_names() -> None:
    columns, rows = columns_of_frame(FRAME, {name: f"c.{name}" for name in FRAME.columns})
    assert columns.names() == ["c.n", "c.t", "c.d", "c.w", "c.w", "c.w", "c.v.0", "c.v.1"]
    wanted = [
        [1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 2.0],
        [NAN, 0.0, NAN, 0.0, 0.0, 0.0, 3.0, NAN],
        [3.0, NAN, -1.0, 1.0, 0.0, 0.0, NAN, NAN],
    ]
    np.testing.assert_array_equal(rows, wanted)


def test_rows_of_a_table_are_those_that_its_columns_encode() -> None:
    columns, rows = columns_of_frame(FRAME, {name: name for name in FRAME.columns})
    for record, row in zip(FRAME.to_dicts(), rows, strict=True):
        encoded, new = columns.encode(record)
        assert new == ()
        np.testing.assert_array_equal(encoded, row)


@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Tokyo"])
def test_times_are_days_since_1970(zone: str | None) -> None:
    moments = [datetime.datetime(1970, 1, 3, 12), datetime.datetime(2020, 2, 29, 1, 2, 3)]
    series = pl.Series("t", moments).dt.replace_time_zone(zone)
    columns, rows = columns_of_frame(series.to_frame(), {"t": "t"})
    for record, row in zip(series.to_frame().to_dicts(), rows, strict=True):
        np.testing.assert_allclose(columns.encode(record).row, row, rtol=1e-12)
    if zone != "Asia/Tokyo":
        assert rows[0, 0] == 2.5


def test_a_table_of_one_column_of_lists_has_sequences() -> None:
    columns, rows = columns_of_frame(FRAME, {"v": "context"})
    assert columns.n_given == 2
    np.testing.assert_array_equal(rows, [[1.0, 2.0], [3.0, NAN], [NAN, NAN]])
    one, _ = columns_of_frame(pl.DataFrame({"x": [[1.0], [2.0]]}), {"x": "context"})
    assert (one.n_given, one.features) == (1, ())
    number, _ = columns_of_frame(FRAME, {"n": "context"})
    assert (number.n_given, number.names()) == (0, ["context"])


def test_a_table_without_features_has_none() -> None:
    columns, rows = columns_of_frame(FRAME, {})
    assert (columns.n_columns, rows.shape) == (0, (3, 0))


def test_a_table_without_gaps_is_a_matrix() -> None:
    frame = FRAME.head(1).with_columns(w2=pl.lit("x"))
    matrix, names = matrix_of_columns(frame, ["n", "w", "v", "w2"])
    assert names == ("n", "w=b", "v.0", "v.1", "w2=x")
    assert matrix.tolist() == [[1.0, 1.0, 1.0, 2.0, 1.0]]
    with pytest.raises(BadParameter, match="row 2 has no value in the column 'n'"):
        matrix_of_columns(FRAME, ["n"])
    empty, none = matrix_of_columns(FRAME, [])
    assert (empty.shape, none) == ((3, 0), ())


def test_other_columns_are_an_error_that_names_them() -> None:
    frame = pl.DataFrame({"x": [{"a": 1}]})
    with pytest.raises(BadParameter, match="the column 'x' holds Struct"):
        columns_of_frame(frame, {"x": "x"})
    words = pl.DataFrame({"x": [["a", "b"]]})
    with pytest.raises(BadParameter, match=r"row 1 has .* in the column 'x'; expected numbers"):
        columns_of_frame(words, {"x": "x"})


def test_rows_that_end_early_are_missing_there() -> None:
    np.testing.assert_array_equal(
        padded([[1.0], [], [2.0, 3.0]], "x"), [[1, NAN], [NAN] * 2, [2, 3]]
    )
    assert padded([], "x").shape == (0, 0)


# -- records -----------------------------------------------------------------------------------


def test_records_have_columns_for_all_their_names_and_words() -> None:
    records: list[dict[str, Any]] = [
        {"n": 1.0, "w": "b", "_id": 7},
        {"w": ["a", "b"], "m": {"k": True}, "n": None},
        {"n": "seven"},
    ]
    columns = columns_of_records(records, "a context")
    assert [(f.name, f.kind) for f in columns.features] == [
        ("n", NUMBER),
        ("w", ("b", "a", None)),
        ("m.k", NUMBER),
        ("n", ("seven", None)),
    ]
    assert all(columns.encode(record).new == () for record in records)
    assert columns.encode({"n": 5.0, "w": "c"}).new == ()  # not declared, but there


@pytest.mark.parametrize(("n_words", "is_hashed"), [(100, False), (101, True), (5_000, True)])
def test_words_of_a_feature_that_has_many_are_hashed(n_words: int, is_hashed: bool) -> None:
    columns = columns_of_records(({"w": f"word {i}"} for i in range(n_words)), "a context")
    assert columns.n_columns == (HASH_COLUMNS if is_hashed else n_words + 1)
