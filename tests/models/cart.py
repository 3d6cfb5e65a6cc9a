"""A decision tree in twenty lines, grown by trying every split: the judge of the compiled one."""

import itertools
import math
from typing import Any

import numpy as np


def grown(contexts: np.ndarray, targets: np.ndarray, *, depth: float = math.inf, leaf: int = 1):
    """Return the mean of a leaf, or (feature, threshold, left, right)."""
    mean = float(targets.mean())
    if depth == 0 or np.ptp(targets) == 0:
        return mean
    best: tuple[float, int, float] | None = None
    for j in range(contexts.shape[1]):
        values = np.unique(contexts[:, j])
        for low, high in itertools.pairwise(values):
            left = contexts[:, j] <= low
            if min(left.sum(), (~left).sum()) < leaf:
                continue
            sides = (targets[left], targets[~left])
            score = sum(side.sum() ** 2 / side.size for side in sides)
            if best is None or score > best[0] * (1 + 1e-12):
                best = (score, j, (low + high) / 2)
    if best is None:
        return mean
    _, j, threshold = best
    left = contexts[:, j] <= threshold
    limits: dict[str, Any] = {"depth": depth - 1, "leaf": leaf}
    below, above = (grown(contexts[side], targets[side], **limits) for side in (left, ~left))
    return (j, threshold, below, above)


def answer(tree, context: np.ndarray) -> float:
    """Return the mean in the leaf of the context."""
    while isinstance(tree, tuple):
        j, threshold, left, right = tree
        tree = right if context[j] > threshold else left
    return tree
