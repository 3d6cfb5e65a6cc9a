"""The three data sets of the paper's contextual experiments, in Parquet beside this file.

Where they come from and under which licences stands in CREDITS.md. The preprocessing is that of
Riquelme et al. (2018), whom the paper follows, up to the scaling.
"""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from giro.datasets.dataset import Dataset, dataset_of
from giro.errors import UnknownName

if TYPE_CHECKING:
    import polars as pl

_TRAINING_ROWS = 43_500  # of Statlog; the others are its test rows


class DatasetSize(NamedTuple):
    """How large a data set is, known without reading it."""

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

    It is read at each call, which takes at most a second or so: nothing large stays in memory that
    is not needed. The classification problem keeps what it makes of it.

    >>> load("statlog").features.shape
    (43500, 9)
    """
    if name not in SHAPES:
        raise UnknownName("data set", name, known=SHAPES)
    return {"adult": _adult, "covertype": _covertype, "statlog": _statlog}[name]()


def _adult() -> Dataset:
    """Return the census: guess the occupation.

    Rows with a missing value are dropped. Incomes of the test rows end with a full stop, and so
    count as other values: that gives the 94 features of Riquelme et al. (2018).
    """
    return dataset_of(_read("adult").drop_nulls(), label="occupation")


def _covertype() -> Dataset:
    """Return forest cover: guess the kind of trees.

    Without the first of the 581,012 records, which Riquelme et al. (2018) lose by reading it as a
    header.
    """
    return dataset_of(_read("covertype").slice(1), label="Cover_Type")


def _statlog() -> Dataset:
    """Return the space shuttle's training rows: guess the state of its radiators."""
    return dataset_of(_read("statlog_shuttle").head(_TRAINING_ROWS), label="class")


def _read(name: str) -> "pl.DataFrame":
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    return pl.read_parquet(Path(__file__).with_name(f"{name}.parquet"))
