"""Files of a user -> Dataset."""

from pathlib import Path
from typing import TYPE_CHECKING

from giro.datasets._frame import dataset_of
from giro.datasets.dataset import Dataset
from giro.errors import BadFile, BadParameter, UnknownName

if TYPE_CHECKING:
    import polars as pl

FORMATS = (".parquet", ".csv")


def is_file_name(text: str) -> bool:
    """Tell whether a text names a file that can be read as a data set."""
    return text.lower().endswith(FORMATS)


def read_dataset(path: Path, *, label: str) -> Dataset:
    """Return the data set in a Parquet or CSV file, with the classes of column `label`."""
    frame = _read(path)
    try:
        return dataset_of(frame, label=label)
    except (BadParameter, UnknownName) as error:
        raise BadFile(f"{path}: {error}") from None


def _read(path: Path) -> "pl.DataFrame":
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    if not path.is_file():
        raise BadFile(f"there is no file {path}")
    try:
        if path.suffix.lower() == ".csv":
            return pl.read_csv(path, infer_schema_length=None)
        return pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).split("\n")[0]
        raise BadFile(f"{path} cannot be read as {path.suffix[1:].lower()}: {reason}") from None
