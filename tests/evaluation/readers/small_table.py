"""A table of three events, and whether two logs are the same."""

import dataclasses
from typing import Any

import numpy as np

from giro.evaluation import Log
from giro.offer import SparseRow, SparseRows

TABLE: dict[str, list[Any]] = {
    "arm": ["red", "green", "red"],
    "reward": [1.0, 0.0, 2.5],
    "probability": [0.25, 0.75, 0.5],
    "context_age": [30, 40, 50],
    "context_city": ["Rome", "Oslo", "Rome"],
    "context_new": [True, False, True],
}


def same(first: Log, second: Log) -> bool:
    pairs = ((getattr(first, f.name), getattr(second, f.name)) for f in dataclasses.fields(Log))
    return all(_same(*pair) for pair in pairs)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if isinstance(one, list | SparseRow | SparseRows):
        pairs = zip(one, other, strict=True)
        return type(one) is type(other) and all(_same(*pair) for pair in pairs)
    return bool(one == other)
