"""Dataset: rows of numbers, each with a class."""

from typing import Any, NamedTuple

import numpy as np


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
