"""Contexts of any kind as a matrix of numbers."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from giro.errors import BadParameter

if TYPE_CHECKING:
    import polars as pl


def matrix_of_columns(
    frame: "pl.DataFrame", columns: Sequence[str]
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return [event, feature] and the features' names.

    A column of numbers or truths is one feature, a column of lists one for each entry, and a
    column of text one for each text that occurs: 1 where it stands, else 0 (`colour=red`).
    """
    parts: list[np.ndarray] = [np.empty((frame.height, 0))]
    names: list[str] = []
    for column in columns:
        part, part_names = _part(frame.get_column(column))
        parts.append(part)
        names.extend(part_names)
    return np.ascontiguousarray(np.hstack(parts)), tuple(names)


def matrix_of_records(records: Sequence[Mapping[str, float]]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return [event, feature] from the features that each event names; the others are 0."""
    names = list(dict.fromkeys(name for record in records for name in record))
    position = {name: i for i, name in enumerate(names)}
    matrix = np.zeros((len(records), len(names)))
    for row, record in enumerate(records):
        for name, value in record.items():
            matrix[row, position[name]] = value
    return matrix, tuple(names)


def flattened(value: Any, name: str = "") -> dict[str, float]:
    """Return the numbers inside nested JSON by their path; a text t at path x becomes x=t: 1.

    >>> flattened({"user": {"age": 30, "from": "Rome", "likes": [1, 0]}})
    {'user.age': 30.0, 'user.from=Rome': 1.0, 'user.likes.0': 1.0, 'user.likes.1': 0.0}
    """
    match value:
        case Mapping():
            inner = {k: v for k, v in value.items() if not k.startswith("_")}
            return _joined(flattened(v, f"{name}.{k}" if name else k) for k, v in inner.items())
        case list():
            return _joined(
                flattened(v, name if isinstance(v, Mapping) else f"{name}.{i}")
                for i, v in enumerate(value)
            )
        case str():
            return {f"{name}={value}": 1.0}
        case None:
            return {}
        case _:
            return {name: float(value)}


def _joined(parts: Any) -> dict[str, float]:
    joined: dict[str, float] = {}
    for part in parts:
        joined.update(part)
    return joined


def _part(column: "pl.Series") -> tuple[np.ndarray, list[str]]:
    import polars as pl  # noqa: PLC0415  # quick start without polars

    if column.null_count():
        row = int(column.is_null().arg_max() or 0)
        raise BadParameter(f"event {row + 1} has no value in the context column '{column.name}'")
    kind = column.dtype
    if isinstance(kind, pl.List | pl.Array):
        return _lists(column)
    if kind.is_numeric() or kind == pl.Boolean:
        return column.cast(pl.Float64).to_numpy().reshape(-1, 1), [column.name]
    if kind in (pl.String, pl.Categorical, pl.Enum):
        return _one_hot(column.cast(pl.String))
    raise BadParameter(
        f"the context column '{column.name}' holds {kind}: numbers or text are wanted"
    )


def _one_hot(column: "pl.Series") -> tuple[np.ndarray, list[str]]:
    values, codes = np.unique(np.array(column.to_list(), dtype=str), return_inverse=True)
    return np.eye(values.size)[codes], [f"{column.name}={value}" for value in values]


def _lists(column: "pl.Series") -> tuple[np.ndarray, list[str]]:
    rows = column.to_list()
    for event, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise BadParameter(
                f"event {event + 1} has {len(row)} entries in the context column '{column.name}', "
                f"event 1 has {len(rows[0])}: all have the same features"
            )
    return padded(rows, column.name)


def padded(rows: Sequence[Sequence[float]], name: str) -> tuple[np.ndarray, list[str]]:
    """Return [event, feature] with 0 where a row ends early, and the features' names."""
    longest = max(map(len, rows), default=0)
    matrix = np.zeros((len(rows), longest))
    for event, row in enumerate(rows):
        try:
            matrix[event, : len(row)] = row
        except (TypeError, ValueError):
            raise BadParameter(
                f"event {event + 1} has {row} in the context column '{name}'; numbers are wanted"
            ) from None
    return matrix, [f"{name}.{i}" for i in range(longest)]
