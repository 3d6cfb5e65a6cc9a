"""The area under a falling curve as layers of equal area (Marsaglia and Tsang, 2000).

Layer 0 is the rectangle under the start of the tail, together with the tail; each other is a
rectangle on top of the one before, as wide as the curve there. Up to the edge of the layer above, a
layer is all under the curve, so that few points of it need the curve itself.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from giro.kernels.draws.fixed_point import UNIT, fixed, log1p

LAYERS = 1024


class Ziggurat(NamedTuple):
    """Layers of equal area, from the widest at the bottom to the top."""

    edge: np.ndarray  # [layer] how far it goes to the right, layer 0 as if it had no tail; then 0
    height: np.ndarray  # [layer] its bottom, for layer 0 its top; then 1


def exponential_layers(start: str, height: str, area: str) -> Ziggurat:
    """Return layers under exp(-x), which has that height at the start of the tail."""
    return _layers(start, height, area, lambda surprise: surprise)


def normal_layers(start: str, height: str, area: str) -> Ziggurat:
    """Return layers under exp(-x^2 / 2) for x > 0."""
    return _layers(start, height, area, lambda surprise: math.isqrt(2 * surprise * UNIT))


def _layers(start: str, height: str, area: str, edge_at: Callable[[int], int]) -> Ziggurat:
    """Return the layers of a curve that has height exp(-surprise) at `edge_at(surprise)`."""
    x, y, layer = fixed(start), fixed(height), fixed(area)
    edges, heights = [layer * UNIT // y, x], [y, y]
    surprise = x if edge_at(x) == x else x * x // (2 * UNIT)
    while len(edges) < LAYERS:
        more = layer * UNIT // edges[-1]
        surprise -= log1p(more * UNIT // y)
        y += more
        edges.append(edge_at(surprise))
        heights.append(y)
    return Ziggurat(
        np.array([edge / UNIT for edge in edges] + [0.0]),
        np.array([height / UNIT for height in heights] + [1.0]),
    )
