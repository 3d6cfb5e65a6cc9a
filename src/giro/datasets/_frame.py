"""A table with named columns -> Dataset: numbers as they are, words one-hot."""

from typing import TYPE_CHECKING

import numpy as np

from giro.datasets._classes import encoded
from giro.datasets.dataset import Dataset, frozen
from giro.errors import BadParameter, UnknownName

if TYPE_CHECKING:
    import polars as pl

_MOST_WORDS = 1_000  # different ones in a column: more are rather keys or free text


def dataset_of(frame: "pl.DataFrame", *, label: str) -> Dataset:
    """Return the rows of a table, with the classes of column `label`.

    Columns of numbers come first, as they are (true and false are 1 and 0). A column of words gives
    a feature for each word in it, in sorted order, which is 1 in the rows with that word.
    """
    if label not in frame.columns:
        raise UnknownName("column", label, known=frame.columns)
    if frame.height == 0:
        raise BadParameter("a data set needs at least one row, got none")
    if frame.width == 1:
        raise BadParameter(f"a data set needs columns besides '{label}'")
    for column in frame:
        _check_complete(column)
    labels, classes = encoded(_label_values(frame[label]))
    features, names = _features(frame.drop(label))
    return Dataset(frozen(features), frozen(labels), classes, names)


def _features(frame: "pl.DataFrame") -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the features, column by column in memory, and their names."""
    numbers = [column for column in frame if _is_numeric(column)]
    words = [column.cast(str) for column in frame if not _is_numeric(column)]
    levels = [_levels(column) for column in words]
    names = [column.name for column in numbers]
    names += [
        f"{c.name}={level}" for c, found in zip(words, levels, strict=True) for level in found
    ]
    features = np.empty((frame.height, len(names)), order="F")
    for j, column in enumerate(numbers):
        features[:, j] = column.cast(float).to_numpy()
    j = len(numbers)
    for column, found in zip(words, levels, strict=True):
        for level in found:
            features[:, j] = (column == level).to_numpy()
            j += 1
    return features, tuple(names)


def _levels(column: "pl.Series") -> list[str]:
    """Return the words that occur in a column, sorted; a category without rows is none."""
    levels = column.unique().sort().to_list()
    if len(levels) > _MOST_WORDS:
        raise BadParameter(
            f"column '{column.name}' has {len(levels)} different words, more than {_MOST_WORDS} "
            "are not made into features: leave it out of the table"
        )
    return levels


def _is_numeric(column: "pl.Series") -> bool:
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    return column.dtype.is_numeric() or column.dtype == pl.Boolean


def _check_complete(column: "pl.Series") -> None:
    """Refuse what is neither numbers nor words, and what is missing or not finite."""
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    if not _is_numeric(column) and column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        raise BadParameter(
            f"column '{column.name}' has numbers or words in a data set, got {column.dtype}"
        )
    if missing := column.null_count():
        raise BadParameter(
            f"column '{column.name}' has no value in {missing} of {len(column)} rows: "
            "fill them or leave these rows out"
        )
    if column.dtype.is_float() and not column.is_finite().all():
        raise BadParameter(f"column '{column.name}' has numbers that are not finite: NaN or inf")


def _label_values(column: "pl.Series") -> np.ndarray:
    return column.to_numpy() if _is_numeric(column) else column.cast(str).to_numpy()
