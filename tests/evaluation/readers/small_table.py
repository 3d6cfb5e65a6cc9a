"""A table of three events, and whether two logs are the same."""

from typing import Any

import numpy as np

from giro.evaluation import Log

TABLE: dict[str, list[Any]] = {
    "arm": ["red", "green", "red"],
    "reward": [1.0, 0.0, 2.5],
    "probability": [0.25, 0.75, 0.5],
    "context_age": [30, 40, 50],
    "context_city": ["Rome", "Oslo", "Rome"],
    "context_new": [True, False, True],
}


def same(first: Log, second: Log) -> bool:
    pairs = zip(first, second, strict=True)
    return all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in pairs)
