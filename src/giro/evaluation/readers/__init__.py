"""Logs of any kind -> Log."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from giro.errors import BadFile, BadParameter, UnknownName
from giro.evaluation.log import Log, checked
from giro.evaluation.readers.bandit import NEEDED, log_of_events
from giro.evaluation.readers.open_bandit import (
    ITEMS,
    file_in_folder,
    is_open_bandit,
    log_of_open_bandit,
)
from giro.evaluation.readers.table import Columns, log_of_table
from giro.evaluation.readers.vw import log_of_vw

if TYPE_CHECKING:
    import polars as pl

Format: TypeAlias = Literal["auto", "giro", "table", "vw", "open-bandit"]

_SAVED = ".giro"
_JSON = (".json", ".jsonl", ".ndjson", ".dsjson")
_DEFAULT = Columns()


def read_log(
    source: Any,
    *,
    format: Format = "auto",
    arm: str = _DEFAULT.arm,
    reward: str = _DEFAULT.reward,
    probability: str = _DEFAULT.probability,
    context: str | Sequence[str] = _DEFAULT.context,
    arms: Sequence[str] | None = None,
    hashed: bool | None = None,
) -> Log:
    """Return the log in a DataFrame, a mapping of columns, or a file.

    Files are Parquet (.parquet), CSV (.csv) or JSON lines (.json, .jsonl, .ndjson, .dsjson), or a
    saved `giro.Bandit` (.giro).
    `format` says how to read them; "auto" finds out by the columns:

    - giro: the events of a `giro.Bandit` (`bandit.events()`), decisions joined with rewards.
    - table: a row per event with the columns `arm`, `reward`, `probability` and a `context`:
      a list of columns, the name of one, or what their names begin with. `arms` names all arms.
    - open-bandit: the layout of the Open Bandit Dataset, a file or a folder such as
      `obd/random/all`; the features of its items are read from the file beside it.
    - vw: lines of Vowpal Wabbit's JSON; files only. With `hashed`, features are hashed as by a
      bandit whose policy has `model=hashed`; by default if there are more than 500 of them.

    >>> log = read_log({"arm": ["a", "b"], "reward": [1, 0], "probability": [0.5, 0.5]})
    >>> log.events, log.arm_names
    (2, ('a', 'b'))
    """
    if isinstance(source, Log):
        return checked(source)
    if format not in get_args(Format):
        raise UnknownName("format", format, known=get_args(Format))
    items = None
    if isinstance(source, str | Path):
        path = file_in_folder(Path(source))
        if not path.is_file():
            raise BadFile(f"there is no file {path}")
        if format == "vw" or (format == "auto" and _looks_like_vw(path)):
            try:
                return log_of_vw(path.read_text(encoding="utf-8").split("\n"), hashed=hashed)
            except UnicodeDecodeError:
                raise BadFile(f"{path} is not text") from None
        frame, beside = _frame_of_file(path), path.with_name(ITEMS)
        items = beside if beside.is_file() else None
    else:
        frame = _frame_of(source)
    if hashed is not None:
        raise BadParameter("only features in logs of Vowpal Wabbit are hashed, or not, on request")
    columns = Columns(arm, reward, probability, context)
    return _log_of_frame(frame, format, columns, arms, items)


def _log_of_frame(
    frame: "pl.DataFrame",
    form: Format,
    columns: Columns,
    arms: Sequence[str] | None,
    items: Path | None,
) -> Log:
    if form == "vw":
        raise BadParameter("logs of Vowpal Wabbit are read from files, not from tables")
    if form == "giro" or (form == "auto" and set(NEEDED) <= set(frame.columns)):
        return log_of_events(frame)
    is_table = {columns.arm, columns.reward, columns.probability} <= set(frame.columns)
    found = form == "auto" and not is_table and is_open_bandit(frame.columns)
    if form == "open-bandit" or found:
        return log_of_open_bandit(frame, None if items is None else _frame_of_file(items))
    return log_of_table(frame, columns, arms)


def _frame_of(source: Any) -> "pl.DataFrame":
    import polars as pl  # noqa: PLC0415  # quick start without polars

    if isinstance(source, pl.DataFrame):
        return source
    if isinstance(source, Mapping):
        return _frame_of_columns(source)
    if hasattr(source, "columns") and hasattr(source, "__getitem__"):  # pandas and its like
        return _frame_of_columns({str(name): list(source[name]) for name in source.columns})
    raise BadParameter(
        f"a log is a DataFrame, a mapping of columns or a file, got {type(source).__name__}"
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


def _frame_of_file(path: Path) -> "pl.DataFrame":
    import polars as pl  # noqa: PLC0415  # quick start without polars

    readers: dict[str, Callable[[Path], pl.DataFrame]] = {
        ".parquet": pl.read_parquet,
        ".csv": partial(pl.read_csv, infer_schema_length=None),
        **dict.fromkeys(_JSON, partial(pl.read_ndjson, infer_schema_length=None)),
    }
    if path.suffix.lower() == _SAVED:
        from giro.bandit import Bandit  # noqa: PLC0415  # bandits learn from logs, too

        return Bandit.load(path).events()
    reader = readers.get(path.suffix.lower())
    if reader is None:
        endings = ", ".join((".parquet", ".csv", *_JSON))
        raise BadFile(f"a log is a {endings} or {_SAVED} file, got '{path}'")
    try:
        return reader(path)
    except (pl.exceptions.PolarsError, OSError, RuntimeError) as error:
        first = str(error).strip().split("\n")[0]
        raise BadFile(f"{path} cannot be read as {path.suffix}: {first}") from None


def _looks_like_vw(path: Path) -> bool:
    if path.suffix.lower() not in _JSON:
        return False
    with path.open(encoding="utf-8", errors="replace") as file:
        return any('"_label' in line for _, line in zip(range(100), file, strict=False))
