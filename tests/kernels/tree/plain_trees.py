"""A tree of random splits in plain Python, from the same random numbers as the compiled one."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Draws(NamedTuple):
    """What a tree is grown on: values as ranks among those of all rows, and what rows weigh."""

    contexts: np.ndarray  # [i, feature]
    ranks: np.ndarray  # [i, feature]
    weights: np.ndarray  # [i] draws of the row
    totals: np.ndarray  # [i] sum of their rewards
    squares: np.ndarray  # [i] sum of their rewards' squares


class Leaf(NamedTuple):
    weight: float
    total: float


class Node(NamedTuple):
    feature: int
    threshold: float
    left: "Node | Leaf"
    right: "Node | Leaf"


def ranks_of(contexts: np.ndarray) -> np.ndarray:
    """Return each value's number among the different values of its column."""
    columns = [np.unique(column, return_inverse=True)[1] for column in contexts.T]
    return np.column_stack(columns)


def grown(draws: Draws, candidates: int, leaf: int, rng: np.random.Generator) -> Node | Leaf:
    """Return a tree grown on these draws, the left side of a node before its right one."""
    weight, total = float(draws.weights.sum()), float(draws.totals.sum())
    variance = draws.squares.sum() * weight - total**2
    if weight < 2 * leaf or variance <= 1e-9:
        return Leaf(weight, total)
    best = None
    for bounds in zip(*drawn_bounds(draws.ranks, candidates, rng), strict=True):
        for j, bound in enumerate(bounds):
            left = draws.ranks[:, j] <= bound
            sides = [
                (draws.weights[side].sum(), draws.totals[side].sum()) for side in (left, ~left)
            ]
            if min(w for w, _ in sides) >= max(leaf, 1):
                score = sum(z**2 / w for w, z in sides)
                if best is None or score > best[0] * (1 + 1e-12):
                    best = (score, j, left)
    if best is None:
        return Leaf(weight, total)
    _, j, left = best
    values, parts = (
        draws.contexts[:, j],
        [Draws(*(part[side] for part in draws)) for side in (left, ~left)],
    )
    threshold = (values[left].max() + values[~left].min()) / 2
    return Node(j, threshold, *(grown(part, candidates, leaf, rng) for part in parts))


def drawn_bounds(
    ranks: np.ndarray, candidates: int, rng: np.random.Generator
) -> list[Sequence[int]]:
    """Return each feature's candidates, which are the digits of one number; needs few of them."""
    bounds: list[Sequence[int]] = []
    for column in ranks.T:
        low, span = int(column.min()), int(np.ptp(column))
        place = rng.random() * span if span else 0.0
        digits = []
        for _ in range(candidates):
            digits.append(low + int(place))
            place = place % 1.0 * span
        bounds.append(digits)
    return bounds


def leaf_at(tree: Node | Leaf, context: np.ndarray) -> Leaf:
    while isinstance(tree, Node):
        tree = tree.right if context[tree.feature] > tree.threshold else tree.left
    return tree


def size_of(tree: Node | Leaf) -> int:
    return 1 + size_of(tree.left) + size_of(tree.right) if isinstance(tree, Node) else 1
