"""After which rounds the curves of a simulation are noted."""

from typing import Literal, TypeAlias

import numpy as np

from giro.checks import check, whole
from giro.errors import BadParameter

Spacing: TypeAlias = Literal["even", "log"]


def checkpoints(rounds: int, *, points: int = 200, spacing: Spacing = "even") -> np.ndarray:
    """Return about `points` numbers of rounds, ascending, that end with `rounds`.

    The round after which the last tenth begins is always among them.

    >>> checkpoints(10, points=3).tolist(), checkpoints(1000, points=4, spacing="log").tolist()
    ([3, 7, 9, 10], [1, 10, 100, 900, 1000])
    """
    check("a simulation", whole(1), rounds=rounds, points=points)
    if spacing == "even":
        spaced = np.linspace(rounds / points, rounds, points)
    elif spacing == "log":
        spaced = np.geomspace(1, rounds, points)
    else:
        raise BadParameter(f"spacing is even or log, got '{spacing}'")
    marks = np.append(np.maximum(np.rint(spaced), 1), [before_last_tenth(rounds), rounds])
    return np.unique(marks).astype(np.int64)


def before_last_tenth(rounds: int) -> int:
    """Return how many rounds lie before the last tenth (at least one, if there are two)."""
    return max(1, rounds - max(1, rounds // 10))
