"""The readers of logs: each registers itself with a name and a test that recognises its logs."""

import functools
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from giro.errors import BadFile, BadParameter
from giro.evaluation.log import Log
from giro.sealing import check_parquet, checked_lines

if TYPE_CHECKING:
    import polars as pl

SAVED = ".giro"
JSON = (".json", ".jsonl", ".ndjson", ".dsjson")


class Options(NamedTuple):
    """Options for reading a log."""

    arm: str = "arm"
    reward: str = "reward"
    probability: str = "probability"
    context: str | Sequence[str] = "context"  # names, a name, or the beginning of names
    arms: Sequence[str] | None = None
    hashed: bool | None = None


class Source:
    """A log that has not been read: a file, a bandit in a store, or a table."""

    def __init__(self, given: Any, name: str | None = None) -> None:
        """Take a path, the address of a store, a DataFrame or a mapping of columns."""
        if isinstance(given, str) and "://" in given:
            given = _events_in_store(given, name)
        elif name is not None:
            raise BadParameter(f"name= is that of a bandit in a store, got {name!r} and no store")
        self.path = Path(given) if isinstance(given, str | Path) else None
        self._given = given
        if self.path is not None and not self.path.exists():
            raise BadFile(f"there is no file {self.path}")

    @functools.cached_property
    def frame(self) -> "pl.DataFrame":
        """The log as a table."""
        return _frame_of(self._given) if self.path is None else frame_of_file(self.path)

    @functools.cached_property
    def columns(self) -> set[str]:
        """The names of the table's columns, or none if it cannot be read as a table."""
        try:
            return set(self.frame.columns)
        except BadFile:
            return set()


class Reader(NamedTuple):
    """How a kind of log is recognised and read."""

    recognises: Callable[[Source, Options], bool]
    read: Callable[[Source, Options], Log]


READERS: dict[str, Reader] = {}


def reader(
    name: str, recognises: Callable[[Source, Options], bool]
) -> Callable[[Callable[[Source, Options], Log]], Callable[[Source, Options], Log]]:
    """Register a reader.

    Readers registered first are asked first whether they recognise a log.
    """

    def registered(read: Callable[[Source, Options], Log]) -> Callable[[Source, Options], Log]:
        READERS[name] = Reader(recognises, read)
        return read

    return registered


def _frame_of(given: Any) -> "pl.DataFrame":
    import polars as pl  # noqa: PLC0415  # quick start without polars

    if isinstance(given, pl.DataFrame):
        return given
    if isinstance(given, Mapping):
        return _frame_of_columns(given)
    if hasattr(given, "columns") and hasattr(given, "__getitem__"):  # pandas and its like
        return _frame_of_columns({str(name): list(given[name]) for name in given.columns})
    raise BadParameter(
        f"a log is a DataFrame, a mapping of columns or a file, got {type(given).__name__}"
    )


def _frame_of_columns(columns: Mapping[str, Any]) -> "pl.DataFrame":
    import polars as pl  # noqa: PLC0415  # quick start without polars

    lengths = {name: len(values) for name, values in columns.items() if hasattr(values, "__len__")}
    if len(set(lengths.values())) > 1:
        counted = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise BadParameter(f"the columns of a log have one length, got {counted}")
    try:
        return pl.DataFrame(dict(columns), strict=False)  # numbers may be whole or not
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as error:
        first = str(error).strip().split("\n")[0]
        raise BadParameter(f"the columns of the log cannot be read as a table: {first}") from None


def frame_of_file(path: Path) -> "pl.DataFrame":
    """Return the table in a file.

    For a saved bandit, these are its events.
    """
    import polars as pl  # noqa: PLC0415  # quick start without polars

    readers: dict[str, Callable[[Path], pl.DataFrame]] = {
        ".parquet": _parquet,
        ".csv": functools.partial(pl.read_csv, infer_schema_length=None),
        **dict.fromkeys(JSON, _lines),
    }
    if path.suffix.lower() == SAVED:
        from giro.bandit import Bandit  # noqa: PLC0415  # bandits learn from logs, too

        return Bandit.load(path).events()
    read = readers.get(path.suffix.lower())
    if read is None:
        endings = ", ".join((".parquet", ".csv", *JSON))
        raise BadFile(f"a log is a {endings} or {SAVED} file, got '{path}'")
    try:
        return read(path)
    except (
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
        OSError,
        RuntimeError,
    ) as error:
        first = str(error).strip().split("\n")[0]
        raise BadFile(f"{path} cannot be read as {path.suffix}: {first}") from None


def _events_in_store(address: str, name: str | None) -> "pl.DataFrame":
    from giro.bandit import Bandit  # noqa: PLC0415  # bandits learn from logs, too
    from giro.bandit.stores import names_in  # noqa: PLC0415  # likewise

    names = names_in(address)
    if name is None and len(names) != 1:
        raise BadParameter(f"give name=..., a bandit of the store; there are {names}")
    with Bandit.open(address, names[0] if name is None else name) as bandit:
        return bandit.events()


def _parquet(path: Path) -> "pl.DataFrame":
    import polars as pl  # noqa: PLC0415  # quick start without polars

    check_parquet(path)
    return pl.read_parquet(path)


def _lines(path: Path) -> "pl.DataFrame":
    import polars as pl  # noqa: PLC0415  # quick start without polars

    return pl.read_ndjson(io.BytesIO(checked_lines(path)), infer_schema_length=None)
