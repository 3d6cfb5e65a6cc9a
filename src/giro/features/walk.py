"""One walk through nested mappings, with one rule for every kind of value.

| value | becomes |
| --- | --- |
| a number, `Decimal`, `Fraction`, NumPy scalar | a number under its name |
| `True`, `False` | the number 1 or 0 |
| a date or datetime | a number: days since 1970 (UTC where it has no zone) |
| a text | a word under its name |
| None, NaN | nothing: the value is missing |
| a mapping | its values, as `name.inner` |
| a list, tuple or array | words and mappings under its name, numbers as `name.0`, `name.1`, ... |
| anything whose name begins with `_` | nothing |
"""

import datetime
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from giro.errors import BadParameter
from giro.features.messages import LARGEST, short, short_name

Given: TypeAlias = ArrayLike | Sequence[float | None] | Mapping[str, Any] | None
Leaf: TypeAlias = tuple[str, float | str]  # a name, and its number or word

_DEEPEST = 10  # mappings inside of each other
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_DAY = datetime.timedelta(days=1)


def leaves(given: Mapping[str, Any]) -> Iterator[Leaf]:
    """Yield every number and word of a mapping that may hold others, with its full name."""
    for name, value in given.items():
        yield from leaves_at(name, value)


def leaves_at(name: Any, value: Any, depth: int = 1) -> Iterator[Leaf]:  # noqa: C901  # a case each
    """Yield every number and word of one value of a mapping."""
    if not isinstance(name, str):
        raise BadParameter(f"names of features are words, got {short(name)}")
    if value is None or name.startswith("_"):
        return
    if depth > _DEEPEST:
        raise BadParameter(
            f"mappings lie in each other more than {_DEEPEST} deep at '{short_name(name)}'"
        )
    match value:
        case str():
            yield name, value
        case Mapping():
            for inner, part in value.items():
                if not str(inner).startswith("_"):
                    full = f"{name}.{inner}" if isinstance(inner, str) else inner
                    yield from leaves_at(full, part, depth + 1)
        case np.ndarray() if value.ndim > 0:
            yield from leaves_at(name, value.tolist(), depth)
        case list() | tuple():
            for i, part in enumerate(value):
                shares = isinstance(part, str | Mapping)
                yield from leaves_at(name if shares else f"{name}.{i}", part, depth + 1)
        case _:
            number = number_of(f"feature '{short_name(name)}' is", value)
            if not math.isnan(number):
                yield name, number


def number_of(subject: str, value: Any) -> float:
    """Return a value as a number, or NaN if it is missing.

    Errors begin with `subject`.
    """
    if isinstance(value, datetime.date):
        return _days(value)
    try:
        if isinstance(value, str | Mapping | Sequence | set | frozenset):
            raise TypeError
        number = math.nan if value is None else float(value)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        raise BadParameter(f"{subject} a number, got {short(value)}") from None
    if abs(number) > LARGEST:
        raise BadParameter(f"{subject} a number within ±{LARGEST:g}, got {short(value)}")
    return number


def _days(date: datetime.date) -> float:
    """Return the days from the beginning of 1970 to a date, with the time of day as a fraction."""
    if not isinstance(date, datetime.datetime):
        date = datetime.datetime(date.year, date.month, date.day)  # see below
    if date.tzinfo is None:
        date = date.replace(tzinfo=datetime.UTC)
    return (date - _EPOCH) / _DAY


def number_row(given: Any, noun: str) -> np.ndarray:
    """Return a copy of a sequence of numbers as an array, with NaN where one is missing."""
    try:
        array = np.asarray(given)
    except (TypeError, ValueError):  # lists of different lengths
        raise BadParameter(f"{noun} holds numbers, got {short(given)}") from None
    if array.dtype.kind not in "biufO" or array.ndim != 1 or array.size == 0:
        raise BadParameter(f"{noun} is a list of numbers, or a mapping; got {short(given)}")
    if array.dtype.kind == "O":
        return np.array([number_of(f"{noun} holds", value) for value in array])
    row = np.array(array, np.float64)
    if not is_usable(row):
        raise BadParameter(f"{noun} holds numbers within ±{LARGEST:g}, got {short(given)}")
    return row


def is_usable(rows: np.ndarray) -> bool:
    """Check whether all numbers are small enough to be squared.

    Missing ones are NaN.
    """
    sizes = np.abs(rows)
    return rows.size == 0 or bool(sizes.max() <= LARGEST) or not (sizes > LARGEST).any()
