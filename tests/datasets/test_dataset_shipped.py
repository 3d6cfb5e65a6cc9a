"""The paper's data sets: rows, features and classes, against the raw files read by pandas."""

import hashlib
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import giro
from giro import UnknownName
from giro.datasets import Dataset, load
from giro.datasets.dataset import SHAPES

FOLDER = Path(giro.__file__).parent / "datasets"

BEST_ARM = {"adult": (2, 6_020), "covertype": (1, 283_301), "statlog": (0, 34_108)}

loaded = cache(load)


def raw(name: str) -> pd.DataFrame:
    return pd.read_parquet(FOLDER / f"{name}.parquet")


@pytest.mark.parametrize("name", SHAPES)
def test_rows_features_and_classes_are_as_announced(name: str) -> None:
    dataset: Dataset = loaded(name)
    assert dataset.features.shape == (SHAPES[name].rows, SHAPES[name].features)
    assert dataset.labels.shape == (SHAPES[name].rows,)
    assert len(dataset.classes) == SHAPES[name].classes
    assert len(dataset.columns) == SHAPES[name].features
    assert set(dataset.labels.tolist()) == set(range(SHAPES[name].classes))


@pytest.mark.parametrize("name", SHAPES)
def test_the_most_frequent_class_has_the_published_share(name: str) -> None:
    counts = np.bincount(loaded(name).labels)
    assert (int(counts.argmax()), int(counts.max())) == BEST_ARM[name]


@pytest.mark.parametrize("name", SHAPES)
def test_arrays_are_double_precision_and_cannot_be_written_to(name: str) -> None:
    dataset = loaded(name)
    assert dataset.features.dtype == np.float64
    for array in (dataset.features, dataset.labels):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_adult_is_complete_rows_of_numbers_and_then_words() -> None:
    frame = raw("adult").dropna()
    words = frame.select_dtypes("category").drop(columns="occupation").astype(str)
    numbers = frame.select_dtypes("number").astype(float)
    wanted = pd.concat([numbers, pd.get_dummies(words, prefix_sep="=").astype(float)], axis=1)
    dataset = loaded("adult")
    assert list(dataset.columns) == list(wanted.columns)
    assert np.array_equal(dataset.features, wanted.to_numpy())
    assert [dataset.classes[i] for i in dataset.labels] == frame["occupation"].tolist()


def test_adult_has_four_incomes_and_nobody_who_never_worked() -> None:
    columns = loaded("adult").columns
    incomes = [column for column in columns if column.startswith("income=")]
    assert incomes == ["income=<=50K", "income=<=50K.", "income=>50K", "income=>50K."]
    assert "workclass=Never-worked" not in columns


def test_covertype_is_all_records_but_the_first() -> None:
    frame = raw("covertype").iloc[1:]
    dataset = loaded("covertype")
    assert np.array_equal(dataset.labels, frame["Cover_Type"].to_numpy(np.int64) - 1)
    for j, column in enumerate(frame.columns[:-1]):
        assert np.array_equal(dataset.features[:, j], frame[column].to_numpy(float))


def test_statlog_is_the_training_rows() -> None:
    frame = raw("statlog_shuttle").iloc[:43_500]
    dataset = loaded("statlog")
    assert np.array_equal(dataset.features, frame.iloc[:, :9].to_numpy(float))
    assert np.array_equal(dataset.labels, frame["class"].to_numpy(np.int64) - 1)


def test_the_files_are_those_of_the_credits() -> None:
    credits = (FOLDER / "CREDITS.md").read_text()
    listed = dict(re.findall(r"^\| `(\w+\.parquet)` .* `([0-9a-f]{64})` \|$", credits, re.M))
    files = {path.name: path.read_bytes() for path in FOLDER.glob("*.parquet")}
    assert {name: hashlib.sha256(content).hexdigest() for name, content in files.items()} == listed
    assert "retention of copyright" in credits


def test_an_unknown_data_set_is_refused_by_name() -> None:
    with pytest.raises(UnknownName, match="did you mean 'adult'"):
        load("adults")


def test_nothing_is_read_before_a_run_starts() -> None:
    program = (
        "import sys, giro; giro.Problem.parse('classification:data=adult'); print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "giro" in done.stdout.split()
    assert "polars" not in done.stdout.split()
