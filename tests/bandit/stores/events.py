"""Events for tests of stores, and what opens these."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from giro.bandit.event import Decided, Event
from giro.bandit.stores import Store
from giro.seeds import stream

Make = Callable[..., Store]


def decided(id: str, time: float = 1.0, *, d: int = 0, k: int = 0, n: int = 3) -> Decided:
    rng = stream(len(id), int(time))
    features = rng.random((n, k)) if k else np.empty((0, 0))
    p = np.full(n, 1.0 / n)
    return Decided(id, time, 1, np.arange(n), p, 0.25, 7, rng.random(d), features, b"12345678")


def plain(events: Sequence[Event]) -> list[Any]:
    """Return events as what can be compared."""
    return [
        (type(e).__name__, *(v.tolist() if isinstance(v, np.ndarray) else v for v in e))
        for e in events
    ]
