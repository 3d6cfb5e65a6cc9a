"""Sums of samples without replacement."""

import numpy as np

from giro.compiling import kernel


@kernel
def subsampled_sum(rewards: np.ndarray, n: int, rng: np.random.Generator) -> float:
    """Return the sum of n of the rewards, drawn without replacement.

    The first n steps of a Fisher-Yates shuffle, done in place and taken back, because choosing an
    arm must leave its history as it was. Costs n draws however many rewards there are.
    """
    positions = np.empty(n, np.int64)
    total = 0.0
    for i in range(n):
        positions[i] = i + int(rng.random() * (rewards.size - i))
        _swap(rewards, i, positions[i])
        total += rewards[i]
    for i in range(n - 1, -1, -1):
        _swap(rewards, i, positions[i])
    return total


@kernel
def _swap(values: np.ndarray, i: int, j: int) -> None:
    values[i], values[j] = values[j], values[i]
