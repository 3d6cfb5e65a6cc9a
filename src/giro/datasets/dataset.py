"""Dataset: rows of numbers, each with a class, from arrays, a table, a file, or the paper's three.

The paper's three data sets, from its contextual experiments, are Parquet files beside this one.
CREDITS.md names their origin and licences. The preprocessing follows Riquelme et al. (2018), as the
paper does. Scaling comes last and is ours.
"""

import math
from collections.abc import Iterable
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from giro.errors import BadFile, BadParameter, UnknownName
from giro.features.frames import matrix_of_columns
from giro.kernels.regression.linear_algebra import total

if TYPE_CHECKING:
    import polars as pl

_NUMERIC = "biuf"  # NumPy's kinds of true and false, whole and other numbers
_WORDS = "OUST"  # its kinds of objects and strings
FORMATS = (".parquet", ".csv")
_MOST_WORDS = 1_000  # different ones in a column: more suggest keys or free text


class Dataset(NamedTuple):
    """Unscaled rows of features and their classes, in read-only arrays."""

    features: np.ndarray  # [row, feature] float64, finite
    labels: np.ndarray  # [row] index of the row's class in `classes`
    classes: tuple[Any, ...]  # in sorted order
    columns: tuple[str, ...]  # names of the features


def frozen(array: np.ndarray) -> np.ndarray:
    """Make the array read-only and return it."""
    array.flags.writeable = False
    return array


def dataset_from_arrays(features: Any, labels: Any) -> Dataset:
    """Return a data set of rows of numbers, with a label for each that can be sorted."""
    matrix = _matrix(features)
    if isinstance(labels, list | tuple):  # NumPy would turn 1 into a word, and pairs into a table
        listed, labels = labels, np.empty(len(labels), object)
        for i, label in enumerate(listed):
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
    """Return a copy of finite numbers, [row, feature], stored column by column."""
    array = _array(features, "contexts")
    if array.ndim != 2 or array.shape[0] < 1 or array.shape[1] < 1:
        raise BadParameter(
            f"contexts are a table with at least one row and one column, got shape {array.shape}"
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


def encoded(labels: np.ndarray) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Return the class of each row, and the sorted names of the classes.

    Labels that are objects must be hashable.

    >>> encoded(np.array(["oak", "ash", "oak"]))
    (array([1, 0, 1]), ('ash', 'oak'))
    """
    if labels.dtype.kind == "O":
        objects = labels.tolist()
        try:
            distinct = set(objects)
            _check_labels(distinct)
            ordered = sorted(distinct)
        except TypeError as error:
            raise BadParameter(
                f"labels must be comparable with each other, but these are not: {error}"
            ) from None
        position = {label: i for i, label in enumerate(ordered)}
        return np.array([position[label] for label in objects], np.int64), tuple(ordered)
    if labels.dtype.kind == "f":
        _check_labels(np.unique(labels).tolist())
    classes, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.int64), tuple(classes.tolist())


def _check_labels(labels: Iterable[Any]) -> None:
    """Check that no label is missing, and that none is a fraction, which is no class."""
    for label in labels:
        if label is None or label != label:  # noqa: PLR0124  # NaN, of whatever type
            raise BadParameter(f"every row needs a label, got {label}")
        if isinstance(label, float) and not label.is_integer():
            raise BadParameter(f"labels are classes, such as words or whole numbers, got {label}")


def is_file_name(text: str) -> bool:
    """Return whether a text names a file that can be read as a data set."""
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


def dataset_of(frame: "pl.DataFrame", *, label: str) -> Dataset:
    """Return the rows of a table, with the classes of column `label`.

    Columns of numbers come first, unchanged (true and false are 1 and 0). A column of words gives a
    feature for each of its words, in sorted order, which is 1 in the rows with that word.
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
                f"column '{column.name}' has {words} different words, and at most {_MOST_WORDS} "
                "can become features: leave it out of the table"
            )
    columns = sorted((c for c in frame if c.name != label), key=lambda c: not _is_numeric(c))
    features, names = matrix_of_columns(frame, [column.name for column in columns])
    return Dataset(frozen(np.asfortranarray(features)), frozen(labels), classes, names)


def _is_numeric(column: "pl.Series") -> bool:
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    return column.dtype.is_numeric() or column.dtype == pl.Boolean


def _check_complete(column: "pl.Series") -> None:
    """Check that a column holds numbers or words, none missing, and that numbers are finite."""
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    if not _is_numeric(column) and column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        raise BadParameter(
            f"a column of a data set holds numbers or words, but '{column.name}' is {column.dtype}"
        )
    if missing := column.null_count():
        raise BadParameter(
            f"column '{column.name}' has no value in {missing} of {len(column)} rows: "
            "fill in values or leave these rows out"
        )
    if column.dtype.is_float() and not column.is_finite().all():
        raise BadParameter(f"column '{column.name}' has numbers that are not finite (NaN or inf)")


# -- the three data sets of the paper --------------------------------------------------------------

_TRAINING_ROWS = 43_500  # of Statlog; the others are its test rows


class DatasetSize(NamedTuple):
    """The size of a data set, known without reading it."""

    rows: int
    features: int
    classes: int


SHAPES = {
    "adult": DatasetSize(45_222, 94, 14),
    "covertype": DatasetSize(581_011, 54, 7),
    "statlog": DatasetSize(43_500, 9, 7),
}


def load(name: str) -> Dataset:
    """Return a data set of the paper: adult, covertype or statlog.

    Every call reads the file, which takes about a second at most, so that nothing large stays in
    memory. The classification problem keeps the rows it derives.

    >>> load("statlog").features.shape
    (43500, 9)
    """
    if name not in SHAPES:
        raise UnknownName("data set", name, known=SHAPES)
    return {"adult": _adult, "covertype": _covertype, "statlog": _statlog}[name]()


def _adult() -> Dataset:
    """Return the census, whose classes are occupations.

    Rows with a missing value are dropped. Incomes in the test rows end with a full stop and so
    count as different values. That gives the 94 features of Riquelme et al. (2018).
    """
    return dataset_of(_read("adult").drop_nulls(), label="occupation")


def _covertype() -> Dataset:
    """Return forest cover, whose classes are kinds of trees.

    The first of the 581,012 records is missing: Riquelme et al. (2018) lose it by reading it as a
    header.
    """
    return dataset_of(_read("covertype").slice(1), label="Cover_Type")


def _statlog() -> Dataset:
    """Return the space shuttle's training rows, whose classes are states of its radiators."""
    return dataset_of(_read("statlog_shuttle").head(_TRAINING_ROWS), label="class")


def _read(name: str) -> "pl.DataFrame":
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    return pl.read_parquet(Path(__file__).with_name(f"{name}.parquet"))


# -- features on a common scale --------------------------------------------------------------------

Scale: TypeAlias = Literal["column", "unit", "range", "none"]

_BLOCK = 1_024  # rows to scale at a time: they stay in the processor's cache
_USUAL = 1e100  # numbers below this, and above its inverse, can be squared and summed


def contexts_of(features: np.ndarray, scale: Scale) -> np.ndarray:
    """Return scaled features, [row, feature].

    `column` standardises each column over all rows, with the population's standard deviation.
    `unit` does the same and then gives each row length one. `range` maps each column to [0, 1].
    `none` changes nothing. Except with `none`, a constant column becomes 0. A row of zeros stays a
    row of zeros.
    """
    measures = [_measure(features[:, j], scale) for j in range(features.shape[1])]
    factor, shift, spread = np.array(measures).T
    contexts = np.empty(features.shape)
    for first in range(0, features.shape[0], _BLOCK):
        rows = (features[first : first + _BLOCK] * factor - shift) / spread
        if scale == "unit":
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
            rows /= np.where(lengths > 0.0, lengths, 1.0)
        contexts[first : first + _BLOCK] = rows
    return frozen(contexts)


class _Measure(NamedTuple):
    """The scaling of a column: x becomes (factor x - shift) / spread."""

    factor: float
    shift: float
    spread: float


def _measure(column: np.ndarray, scale: Scale) -> _Measure:
    if scale == "none":
        return _Measure(1.0, 0.0, 1.0)
    factor, largest = 1.0, float(np.abs(column).max())
    if largest > 0.0 and not 1.0 / _USUAL < largest < _USUAL:  # a power of two loses no digits
        factor = math.ldexp(1.0, min(1_000, -math.frexp(largest)[1]))
    handy = column if factor == 1.0 else column * factor
    low, high = float(handy.min()), float(handy.max())
    if low == high:  # the computed deviation may not be 0, by rounding
        return _Measure(factor, low, 1.0)
    if scale == "range":
        return _Measure(factor, low, high - low)
    handy = np.ascontiguousarray(handy, np.float64)
    mean = total(handy) / handy.size  # NumPy's own sums differ in their last bit between versions
    return _Measure(factor, mean, math.sqrt(total((handy - mean) ** 2) / handy.size))
