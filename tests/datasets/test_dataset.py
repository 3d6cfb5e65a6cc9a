"""Data sets from arrays and lists of a caller, and from files of a user."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from giro import BadFile, BadParameter
from giro.datasets.dataset import dataset_from_arrays, read_dataset

ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
FLOWERS = {
    "colour": ["red", "blue", "red"],
    "width": [1, 2, 3],
    "species": ["rose", "aster", "rose"],
    "wild": [True, False, False],
}


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["b", "a", "b"], ("a", "b")),
        (np.array(["b", "a", "b"]), ("a", "b")),
        (np.array(["b", "a", "b"], dtype=np.dtypes.StringDType()), ("a", "b")),
        (pd.Series(["b", "a", "b"], dtype="category"), ("a", "b")),
        (pl.Series(["b", "a", "b"]), ("a", "b")),
        ([7, -1, 7], (-1, 7)),
        (np.array([7, -1, 7], np.int8), (-1, 7)),
        ([True, False, True], (False, True)),
        (np.array([2.0, 1.0, 2.0]), (1.0, 2.0)),
        ([(1, "z"), (1, "a"), (1, "z")], ((1, "a"), (1, "z"))),
    ],
    ids=str,
)
def test_labels_of_any_kind_become_classes_in_sorted_order(labels: Any, classes: Any) -> None:
    dataset = dataset_from_arrays(ROWS, labels)
    assert dataset.classes == classes
    assert dataset.labels.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        np.array(ROWS, np.uint8),
        np.array(ROWS, np.float32),
        np.array(ROWS, object),
        pd.DataFrame(ROWS),
        pl.DataFrame(ROWS, orient="row"),
    ],
    ids=lambda rows: type(rows).__module__,
)
def test_tables_of_numbers_become_double_precision(rows: Any) -> None:
    features = dataset_from_arrays(rows, [0, 1, 0]).features
    assert features.dtype == np.float64
    assert features.tolist() == ROWS


def test_what_the_caller_changes_later_changes_nothing() -> None:
    rows = np.array(ROWS)
    dataset = dataset_from_arrays(rows, [0, 1, 0])
    rows[0, 0] = 99.0
    assert dataset.features[0, 0] == 1.0


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([[1.0, np.nan], [1.0, 2.0]], "finite numbers, got nan in row 0, column 1"),
        ([[1.0, 2.0], [-np.inf, 2.0]], "finite numbers, got -inf in row 1, column 0"),
        ([[1.0, 2.0], [3.0]], "contexts do not form an array"),
        ([1.0, 2.0], "at least one row and one column, got shape (2,)"),
        (np.ones((2, 2, 2)), "got shape (2, 2, 2)"),
        (np.ones((0, 3)), "at least one row"),
        (np.ones((2, 0)), "one column, got shape (2, 0)"),
        ([["a", "b"], ["c", "d"]], "contexts are numbers, got an array of <U1"),
        ([[1.0, None], [1.0, 2.0]], "contexts are numbers, got None"),
        (np.array([["1", 2.0], [3.0, 4.0]], object), "contexts are numbers, got '1'"),
        (np.ones((2, 2), complex), "contexts are numbers, got an array of complex128"),
        (np.zeros((2, 2), "datetime64[s]"), "contexts are numbers, got an array of datetime64"),
        (np.ones((3, 2)), "each row has one label, got 3 rows and 2 labels"),
        (np.ma.masked_equal([[1.0, 2.0], [3.0, 4.0]], 3.0), "contexts have masked values"),
        (None, "got shape ()"),
    ],
)
def test_what_are_no_contexts_is_refused(rows: Any, complaint: str) -> None:
    with pytest.raises(BadParameter) as refusal:
        dataset_from_arrays(rows, [0, 1])
    assert complaint in str(refusal.value)


@pytest.mark.parametrize(
    ("labels", "complaint"),
    [
        ([0, 1], "each row has one label, got 3 rows and 2 labels"),
        (
            [[0], [1], [0]],
            "labels must be comparable with each other, but these are not: unhashable",
        ),
        (np.zeros((3, 1)), "labels are a list, one for each row, got shape (3, 1)"),
        (["a", None, "b"], "every row needs a label, got None"),
        ([1.0, np.nan, 2.0], "every row needs a label, got nan"),
        (np.array([1.0, np.nan, 2.0]), "every row needs a label, got nan"),
        ([1, "a", 2], "labels must be comparable with each other, but these are not"),
        (np.array([0.5, 1.0, 1.0]), "such as words or whole numbers, got 0.5"),
        ([0.5, 1.0, 1.0], "such as words or whole numbers, got 0.5"),
        (np.array([np.inf, 1.0, 1.0]), "such as words or whole numbers, got inf"),
        (np.zeros(3, "datetime64[s]"), "labels are words or whole numbers, got an array of date"),
        ("abc", "got shape ()"),
    ],
)
def test_what_are_no_labels_is_refused(labels: Any, complaint: str) -> None:
    with pytest.raises(BadParameter) as refusal:
        dataset_from_arrays(ROWS, labels)
    assert complaint in str(refusal.value)


@pytest.fixture(params=["parquet", "csv", "CSV"])
def flowers(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"flowers.{request.param}"
    frame = pl.DataFrame(FLOWERS)
    frame.write_parquet(path) if request.param == "parquet" else frame.write_csv(path)
    return path


def test_numbers_come_first_and_words_have_a_feature_each(flowers: Path) -> None:
    dataset = read_dataset(flowers, label="species")
    assert dataset.columns == ("width", "wild", "colour=blue", "colour=red")
    assert dataset.features.tolist() == [[1, 1, 0, 1], [2, 0, 1, 0], [3, 0, 0, 1]]
    assert (dataset.classes, dataset.labels.tolist()) == (("aster", "rose"), [1, 0, 1])


def test_a_column_of_numbers_can_be_the_label(flowers: Path) -> None:
    dataset = read_dataset(flowers, label="width")
    assert (dataset.classes, dataset.labels.tolist()) == ((1, 2, 3), [0, 1, 2])


def test_categories_are_words_and_those_without_rows_are_left_out(tmp_path: Path) -> None:
    kinds = pl.Enum(["tall", "low", "never"])
    frame = pl.DataFrame({"kind": ["tall", "low"], "y": [0, 1]}, schema_overrides={"kind": kinds})
    frame.write_parquet(tmp_path / "kinds.parquet")
    dataset = read_dataset(tmp_path / "kinds.parquet", label="y")
    assert dataset.columns == ("kind=low", "kind=tall")
    assert dataset.features.tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        ({"x": [1.0, None, 2.0]}, "column 'x' has no value in 1 of 3 rows"),
        ({"x": ["a", None, None]}, "column 'x' has no value in 2 of 3 rows"),
        ({"x": [1, 2, 3], "y": ["a", None, "b"]}, "column 'y' has no value in 1 of 3 rows"),
        ({"x": [1.0, float("nan"), 2.0]}, "column 'x' has numbers that are not finite"),
        ({"x": [1.0, float("inf"), 2.0]}, "column 'x' has numbers that are not finite"),
        ({"x": [[1], [2], [3]]}, "a column of a data set holds numbers or words, but 'x' is List"),
        ({"z": [1, 2, 3], "y": [0.5, 1.0, 2.0]}, "words or whole numbers, got 0.5"),
        ({}, "columns besides 'y'"),
    ],
)
def test_what_is_no_data_set_is_refused(columns: Any, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.parquet"
    pl.DataFrame({"y": [0, 1, 0]} | columns).write_parquet(path)
    with pytest.raises(BadFile) as refusal:
        read_dataset(path, label="y")
    assert str(refusal.value).startswith(str(path))
    assert complaint in str(refusal.value)


def test_a_column_of_keys_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "keys.csv"
    pl.DataFrame({"key": [f"k{i}" for i in range(1_001)], "y": [0] * 1_001}).write_csv(path)
    with pytest.raises(BadFile, match="column 'key' has 1001 different words"):
        read_dataset(path, label="y")


def test_a_table_without_rows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("x,y\n")
    with pytest.raises(BadFile, match="at least one row"):
        read_dataset(path, label="y")


def test_an_unknown_label_is_refused_with_the_columns_there_are(flowers: Path) -> None:
    with pytest.raises(BadFile, match="no column is called 'specie'; did you mean 'species'"):
        read_dataset(flowers, label="specie")


@pytest.mark.parametrize("name", ["wrong.parquet", "wrong.csv"])
def test_a_file_that_is_something_else_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(b"")
    with pytest.raises(BadFile, match="cannot be read as"):
        read_dataset(path, label="y")
    with pytest.raises(BadFile, match="there is no file"):
        read_dataset(tmp_path / f"no-{name}", label="y")
