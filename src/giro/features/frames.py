"""Columns of tables as columns of numbers, and records as rows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from giro.errors import BadParameter
from giro.features.columns import HASH_COLUMNS, NUMBER, Columns, Feature
from giro.features.walk import leaves

if TYPE_CHECKING:
    import polars as pl

    from giro.features.schema import Schema

_MOST_WORDS = 100  # of a feature that have a column each; more are hashed


def columns_of_frame(frame: "pl.DataFrame", names: Mapping[str, str]) -> tuple[Columns, np.ndarray]:
    """Return how columns of a table become numbers, and [row, column] of all its rows.

    `names` maps columns of the table to names of features. A column of numbers, truths or dates is
    a number; a column of text has a column for each text and one for others; a column of lists is
    one number for each entry. A table whose only such column holds lists has sequences as contexts.
    A value that is not there is missing.
    """
    features, parts = list[Feature](), [np.empty((frame.height, 0))]
    for column, name in names.items():
        own, part = _part(frame.get_column(column), name)
        features += own
        parts.append(part)
    rows = np.ascontiguousarray(np.hstack(parts))
    if len(names) == 1 and features and features[0].name == f"{name}.0":
        return Columns(rows.shape[1]), rows
    return Columns(0, tuple(features)), rows


def matrix_of_columns(
    frame: "pl.DataFrame", columns: Sequence[str]
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return [row, feature] of a table without gaps, and the features' names.

    A column of numbers or truths is one feature, a column of lists one for each entry, and a
    column of text one for each text that occurs: 1 where it stands, otherwise 0 (`colour=red`).
    """
    parts: list[np.ndarray] = [np.empty((frame.height, 0))]
    names: list[str] = []
    for column in columns:
        values = frame.get_column(column)
        if values.null_count():
            first = int(values.is_null().arg_max() or 0)
            raise BadParameter(f"row {first + 1} has no value in the column '{column}'")
        features, part = _part(values, column)
        for feature in features:
            words = feature.kind if isinstance(feature.kind, tuple) else ()
            names += [f"{feature.name}={word}" for word in words[:-1]] or [feature.name]
        parts.append(part[:, :-1] if features and isinstance(features[-1].kind, tuple) else part)
    return np.ascontiguousarray(np.hstack(parts)), tuple(names)


def _part(column: "pl.Series", name: str) -> tuple[list[Feature], np.ndarray]:
    """Return the features of a column, and [row, column] their numbers."""
    import polars as pl  # noqa: PLC0415  # quick start without polars

    kind = column.dtype
    if isinstance(kind, pl.List | pl.Array):
        rows = [row or [] for row in column.to_list()]
        part = padded(rows, column.name)
        return [Feature(f"{name}.{i}", NUMBER) for i in range(part.shape[1])], part
    if kind in (pl.Date, pl.Datetime):
        days = column.cast(pl.Datetime("us")).to_physical().cast(pl.Float64) / 86_400e6
        return [Feature(name, NUMBER)], days.to_numpy().reshape(-1, 1).copy()
    if kind.is_numeric() or kind == pl.Boolean:
        return [Feature(name, NUMBER)], column.cast(pl.Float64).to_numpy().reshape(-1, 1).copy()
    if kind in (pl.String, pl.Categorical, pl.Enum):
        texts = column.cast(pl.String)
        words = tuple(sorted(texts.drop_nulls().unique().to_list()))
        place = {word: i for i, word in enumerate(words)}
        part = np.zeros((column.len(), len(words) + 1))
        for row, text in enumerate(texts.to_list()):
            if text is not None:
                part[row, place[text]] = 1.0
        return [Feature(name, (*words, None))], part
    raise BadParameter(f"the column '{column.name}' holds {kind}: expected numbers or text")


def padded(rows: Sequence[Sequence[float]], name: str) -> np.ndarray:
    """Return [row, column] with NaN, which is missing, where a row ends early."""
    matrix = np.full((len(rows), max(map(len, rows), default=0)), np.nan)
    for number, row in enumerate(rows):
        try:
            matrix[number, : len(row)] = row
        except (TypeError, ValueError):
            raise BadParameter(
                f"row {number + 1} has {row} in the column '{name}'; expected numbers"
            ) from None
    return matrix


# -- requests --------------------------------------------------------------------------------------


def is_frame(given: Any) -> bool:
    """Return whether something is a DataFrame of polars or pandas."""
    is_pandas = hasattr(given, "to_dict") and hasattr(given, "columns")
    return hasattr(given, "to_dicts") or is_pandas


def rows_of_frame(frame: Any, schema: "Schema") -> list[np.ndarray] | None:
    """Return each row of a DataFrame as `schema` encodes it.

    None if it holds anything but numbers and words that have columns: whoever encodes row by row
    sees to that.
    """
    columns = schema.context
    if not isinstance(columns, Columns) or columns.n_given:
        return None
    rows = np.tile(columns.missing().row, (len(frame), 1))
    for name in frame.columns:
        if not isinstance(name, str):
            return None
        if not name.startswith("_") and not columns.put_column(rows, name, frame[name]):
            return None
    return [row.copy() for row in rows]


# -- records ---------------------------------------------------------------------------------------


def columns_of_records(records: Iterable[Mapping[str, Any]], noun: str) -> Columns:
    """Return columns for all names and words in records, in the order in which they come.

    A feature of up to 100 words has a column for each; the words of others are hashed.
    """
    words: dict[tuple[str, bool], dict[str, None]] = {}
    for record in records:
        for name, value in leaves(record):
            own = words.setdefault((name, isinstance(value, str)), {})
            if isinstance(value, str) and len(own) <= _MOST_WORDS:
                own[value] = None
    features = (Feature(name, _kind_of(own, is_word)) for (name, is_word), own in words.items())
    return Columns(0, tuple(features), noun)


def _kind_of(words: dict[str, None], is_word: bool) -> Any:
    if not is_word:
        return NUMBER
    return (*words, None) if len(words) <= _MOST_WORDS else HASH_COLUMNS
