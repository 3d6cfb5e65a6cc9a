"""Where every generator comes from."""

import numpy as np

from giro.errors import BadParameter


def stream(seed: int, *path: int) -> np.random.Generator:
    """Return the generator of one place in the work, such as (run, side).

    Different paths give independent streams; the same seed and path give the same numbers on
    every machine and in any order of execution.

    >>> stream(7, 0, 1).integers(100) == stream(7, 0, 1).integers(100)
    np.True_
    """
    if seed < 0 or any(step < 0 for step in path):
        raise BadParameter(f"a seed and its path are integers >= 0, got {(seed, *path)}")
    sequence = np.random.SeedSequence(seed, spawn_key=path)
    return np.random.Generator(np.random.PCG64(sequence))
