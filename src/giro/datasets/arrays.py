"""Arrays of a caller -> Dataset, checked."""

from numbers import Real
from typing import Any

import numpy as np

from giro.datasets.dataset import Dataset, encoded, frozen
from giro.errors import BadParameter

_NUMERIC = "biuf"  # NumPy's kinds of true and false, whole and other numbers
_WORDS = "OUST"  # its kinds of objects and strings


def dataset_from_arrays(features: Any, labels: Any) -> Dataset:
    """Return rows of numbers and one label for each, of any kind that can be sorted."""
    matrix = _matrix(features)
    if isinstance(labels, list | tuple):  # NumPy would make 1 and "one" words, and of pairs a table
        given, labels = labels, np.empty(len(labels), object)
        for i, label in enumerate(given):
            labels[i] = label
    labels = _array(labels, "labels")
    if labels.ndim != 1:
        raise BadParameter(f"labels are a list, one for each row, got shape {labels.shape}")
    if labels.dtype.kind not in _NUMERIC + _WORDS:
        raise BadParameter(f"labels are words or whole numbers, got an array of {labels.dtype}")
    if labels.size != matrix.shape[0]:
        raise BadParameter(
            f"each row has one label, got {matrix.shape[0]} rows and {labels.size} labels"
        )
    codes, classes = encoded(labels)
    names = tuple(f"x{j}" for j in range(matrix.shape[1]))
    return Dataset(frozen(matrix), frozen(codes), classes, names)


def _matrix(features: Any) -> np.ndarray:
    """Return a copy of finite numbers, [row, feature], column by column in memory."""
    array = _array(features, "contexts")
    if array.ndim != 2 or array.shape[0] < 1 or array.shape[1] < 1:
        raise BadParameter(
            f"contexts are a table of at least one row and one column, got shape {array.shape}"
        )
    if array.dtype.kind not in _NUMERIC + "O":
        raise BadParameter(f"contexts are numbers, got an array of {array.dtype}")
    for value in array.ravel() if array.dtype.kind == "O" else ():
        if not isinstance(value, Real):
            raise BadParameter(f"contexts are numbers, got {value!r}")
    matrix = np.array(array, np.float64, order="F")
    wrong = np.argwhere(~np.isfinite(matrix))
    if wrong.size:
        row, column = (int(place) for place in wrong[0])
        raise BadParameter(
            f"contexts are finite numbers, got {matrix[row, column]} in row {row}, column {column}"
        )
    return matrix


def _array(values: Any, what: str) -> np.ndarray:
    if np.ma.is_masked(values):
        raise BadParameter(f"{what} have masked values: fill them or leave their rows out")
    try:
        return np.asarray(values)
    except ValueError as error:  # ragged lists
        raise BadParameter(f"{what} do not form an array: {error}") from None
