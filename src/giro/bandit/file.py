"""A bandit's file: two lines that say what follows and check it, then the events as Parquet."""

import hashlib
import io
from pathlib import Path
from typing import TYPE_CHECKING

from giro.errors import BadFile
from giro.whole_file import whole_file

if TYPE_CHECKING:
    import polars as pl

_MAGIC = b"giro-bandit"
_FORMAT = 1


def write(path: Path, events: "pl.DataFrame") -> None:
    """Write the events; a crash at any time leaves the old file or the new one.

    The first line names the kind of file and the version of its format, the second is the SHA-256
    digest of all that follows.
    """
    buffer = io.BytesIO()
    events.write_parquet(buffer)
    body = buffer.getvalue()
    digest = hashlib.sha256(body).hexdigest().encode()
    with whole_file(path) as partial:
        partial.write_bytes(b"%s %d\n%s\n" % (_MAGIC, _FORMAT, digest) + body)


def read(path: Path) -> "pl.DataFrame":
    """Return the events in a file."""
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise BadFile(f"there is no file {path}") from None
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error}") from error
    first, _, rest = content.partition(b"\n")
    digest, _, body = rest.partition(b"\n")
    _check_first_line(path, first)
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise BadFile(f"{path} is damaged: it was cut short or altered after it was saved")
    try:
        return pl.read_parquet(io.BytesIO(body))
    except pl.exceptions.PolarsError as error:
        raise BadFile(f"{path} is damaged: {error}") from error


def _check_first_line(path: Path, line: bytes) -> None:
    magic, _, version = line.partition(b" ")
    if magic != _MAGIC or not version.isdigit() or int(version) < 1:
        raise BadFile(f"{path} is not a bandit saved by giro")
    if int(version) > _FORMAT:
        raise BadFile(
            f"{path} was saved by a newer giro, in format {int(version)}; "
            f"this one reads formats up to {_FORMAT}"
        )
