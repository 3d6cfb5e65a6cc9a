"""Files of a user -> Dataset."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from giro.datasets.dataset import Dataset, encoded, frozen
from giro.errors import BadFile, BadParameter, UnknownName
from giro.features import matrix_of_columns

if TYPE_CHECKING:
    import polars as pl

FORMATS = (".parquet", ".csv")
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
    values = frame[label] if _is_numeric(frame[label]) else frame[label].cast(str)
    labels, classes = encoded(values.to_numpy())
    for column in frame.drop(label):
        if not _is_numeric(column) and (words := column.n_unique()) > _MOST_WORDS:
            raise BadParameter(
                f"column '{column.name}' has {words} different words, more than {_MOST_WORDS} "
                "are not made into features: leave it out of the table"
            )
    columns = sorted((c for c in frame if c.name != label), key=lambda c: not _is_numeric(c))
    features, names = matrix_of_columns(frame, [column.name for column in columns])
    return Dataset(frozen(np.asfortranarray(features)), frozen(labels), classes, names)


def _is_numeric(column: "pl.Series") -> bool:
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    return column.dtype.is_numeric() or column.dtype == pl.Boolean


def _check_complete(column: "pl.Series") -> None:
    """Check that a column holds numbers or words, that none is missing, and all are finite."""
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


def is_file_name(text: str) -> bool:
    """Tell whether a text names a file that can be read as a data set."""
    return text.lower().endswith(FORMATS)


def read_dataset(path: Path, *, label: str) -> Dataset:
    """Return the data set in a Parquet or CSV file, with the classes of column `label`."""
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    if not path.is_file():
        raise BadFile(f"there is no file {path}")
    try:
        if path.suffix.lower() == ".csv":
            frame = pl.read_csv(path, infer_schema_length=None)
        else:
            frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).split("\n")[0]
        raise BadFile(f"{path} cannot be read as {path.suffix[1:].lower()}: {reason}") from None
    try:
        return dataset_of(frame, label=label)
    except (BadParameter, UnknownName) as error:
        raise BadFile(f"{path}: {error}") from None
