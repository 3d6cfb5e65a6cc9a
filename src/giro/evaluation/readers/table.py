"""A table with columns for arm, reward, probability and context -> Log."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from giro.errors import BadParameter
from giro.evaluation.log import Log, arm_indices, checked
from giro.evaluation.readers._registry import Options, Source, reader
from giro.features import Schema
from giro.features.frames import columns_of_frame

if TYPE_CHECKING:
    import polars as pl

_PREFIX = "context_"  # of columns whose features are called by the rest of the name


def is_table(source: Source, options: Options) -> bool:
    """Return whether a log has the columns of a table."""
    return {options.arm, options.reward, options.probability} <= source.columns


@reader("table", is_table)
def read_table(source: Source, options: Options) -> Log:
    """Return the log in a table with one row per event, in their order."""
    return log_of_table(source.frame, options)


def log_of_table(frame: "pl.DataFrame", options: Options) -> Log:
    """Return the log in a table.

    Arms are text or whole numbers. The columns of the context are those listed; or the one so
    named; or all whose names begin so, which may be none. See `columns_of_frame` for what they
    hold. `arms` names all arms, also those that were never chosen.
    """
    logged, arms = texts(frame, options.arm), options.arms
    index, names = arm_indices(logged, None if arms is None else tuple(map(str, arms)))
    chosen = context_columns(frame, options.context)
    columns, contexts = columns_of_frame(
        frame, {name: name.removeprefix(_PREFIX) or name for name in chosen}
    )
    return checked(
        Log(
            index,
            names,
            numbers(frame, options.reward),
            numbers(frame, options.probability),
            contexts,
            Schema(columns, contextual=bool(chosen)),
        )
    )


def context_columns(frame: "pl.DataFrame", context: str | Sequence[str]) -> list[str]:
    """Return the names of the columns that hold the context."""
    if not isinstance(context, str):
        for name in context:
            column(frame, name)
        return list(context)
    if context in frame.columns:
        return [context]
    return [name for name in frame.columns if context and name.startswith(context)]


def column(frame: "pl.DataFrame", name: str) -> "pl.Series":
    """Return a column, or say that it is missing and which ones there are."""
    if name not in frame.columns:
        raise BadParameter(
            f"the log has no column '{name}'; its columns are {', '.join(frame.columns)}"
        )
    return frame.get_column(name)


def numbers(frame: "pl.DataFrame", name: str) -> np.ndarray:
    """Return a column of numbers."""
    import polars as pl  # noqa: PLC0415  # quick start without polars

    values = column(frame, name)
    as_numbers = values.cast(pl.Float64, strict=False)
    unreadable = as_numbers.is_null()
    if unreadable.any():
        row = int(unreadable.arg_max() or 0)
        raise BadParameter(
            f"event {row + 1} has {values[row]!r} in column '{name}'; expected a number"
        )
    return as_numbers.to_numpy().copy()


def texts(frame: "pl.DataFrame", name: str) -> list[str]:
    """Return a column of arms as text."""
    import polars as pl  # noqa: PLC0415  # quick start without polars

    values = column(frame, name)
    if values.null_count():
        row = int(values.is_null().arg_max() or 0)
        raise BadParameter(f"event {row + 1} has no arm in column '{name}'")
    if not (values.dtype in (pl.String, pl.Categorical, pl.Enum) or values.dtype.is_integer()):
        raise BadParameter(f"column '{name}' holds {values.dtype}; arms are text or whole numbers")
    return values.cast(pl.String).to_list()
