"""A table with columns for arm, reward, probability and context -> Log."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from giro.errors import BadParameter
from giro.evaluation.log import Log, arm_indices, checked
from giro.features import matrix_of_columns

if TYPE_CHECKING:
    import polars as pl


class Columns(NamedTuple):
    """Which columns of a table hold what."""

    arm: str = "arm"
    reward: str = "reward"
    probability: str = "probability"
    context: str | Sequence[str] = "context"  # names, a name, or what the names begin with


def log_of_table(frame: "pl.DataFrame", columns: Columns, arms: Sequence[str] | None = None) -> Log:
    """Return the log in a table with one row per event, in their order.

    Arms are text or whole numbers. The columns of the context are those listed; or the one so
    named; or all whose names begin so, which may be none. See `matrix_of_columns` for what they
    hold. `arms` names all arms, also those that were never chosen.
    """
    logged = texts(frame, columns.arm)
    index, names = arm_indices(logged, None if arms is None else tuple(map(str, arms)))
    contexts, features = matrix_of_columns(frame, context_columns(frame, columns.context))
    return checked(
        Log(
            index,
            names,
            numbers(frame, columns.reward),
            numbers(frame, columns.probability),
            contexts,
            features,
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
