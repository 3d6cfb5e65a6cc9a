"""Arrays and lists of a caller."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from giro import BadParameter
from giro.datasets.arrays import dataset_from_arrays

ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


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
        ([[0], [1], [0]], "labels can be compared with each other, these not: unhashable"),
        (np.zeros((3, 1)), "labels are a list, one for each row, got shape (3, 1)"),
        (["a", None, "b"], "every row needs a label, got None"),
        ([1.0, np.nan, 2.0], "every row needs a label, got nan"),
        (np.array([1.0, np.nan, 2.0]), "every row needs a label, got nan"),
        ([1, "a", 2], "labels can be compared with each other, these not"),
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
