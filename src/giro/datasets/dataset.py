"""Dataset: rows of numbers, each with a class."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from giro.errors import BadParameter


def encoded(labels: np.ndarray) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Return the class of each row, and what the classes are called; objects can be hashed.

    >>> encoded(np.array(["oak", "ash", "oak"]))
    (array([1, 0, 1]), ('ash', 'oak'))
    """
    if labels.dtype.kind == "O":
        given = labels.tolist()
        try:
            distinct = set(given)
            _check_labels(distinct)
            ordered = sorted(distinct)
        except TypeError as error:
            raise BadParameter(
                f"labels can be compared with each other, these not: {error}"
            ) from None
        position = {label: i for i, label in enumerate(ordered)}
        return np.array([position[label] for label in given], np.int64), tuple(ordered)
    if labels.dtype.kind == "f":
        _check_labels(np.unique(labels).tolist())
    classes, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.int64), tuple(classes.tolist())


def _check_labels(labels: Iterable[Any]) -> None:
    """Check that no label is missing, and that none is a fraction: measured, not a class."""
    for label in labels:
        if label is None or label != label:  # noqa: PLR0124  # NaN, of whatever type
            raise BadParameter(f"every row needs a label, got {label}")
        if isinstance(label, float) and not label.is_integer():
            raise BadParameter(f"labels are classes, such as words or whole numbers, got {label}")


class Dataset(NamedTuple):
    """Rows of features and their classes, unscaled; the arrays cannot be written to."""

    features: np.ndarray  # [row, feature] float64, finite
    labels: np.ndarray  # [row] place of the row's class in `classes`
    classes: tuple[Any, ...]  # in sorted order
    columns: tuple[str, ...]  # names of the features


def frozen(array: np.ndarray) -> np.ndarray:
    """Return the array, which from now on cannot be written to."""
    array.flags.writeable = False
    return array
