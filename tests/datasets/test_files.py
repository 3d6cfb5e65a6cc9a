"""Files of a user."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from giro import BadFile
from giro.datasets.files import read_dataset

FLOWERS = {
    "colour": ["red", "blue", "red"],
    "width": [1, 2, 3],
    "species": ["rose", "aster", "rose"],
    "wild": [True, False, False],
}


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
        ({"x": [[1], [2], [3]]}, "column 'x' has numbers or words in a data set, got List"),
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
