"""Exponential draws."""

import math

import numpy as np

from giro.compiling import borrowed, inline_kernel, kernel
from giro.kernels.draws.ziggurat import LAYERS, exponential_layers

_START = "9.25616454426554368669752752862321625259"  # so that the layers end at height 1
_LAYERS = exponential_layers(
    start=_START,
    height="0.0000955209899796100542163984925193948160348",
    area="0.000979678990662020916836327161063869046842",
)
_EDGE, _HEIGHT, _TAIL = _LAYERS.edge, _LAYERS.height, float(_START)
_HALF = 0.5**44  # of the distance between the places of a layer: the first is not 0


@inline_kernel
def standard_exponential(rng: np.random.Generator) -> float:
    """Return a draw from Exp(1), by the ziggurat of Marsaglia and Tsang (2000).

    Ten bits of a uniform number choose the layer, the other 43 the place in it: no bit is used
    twice, as some are in the paper. Of 155 draws 154 need nothing else.
    """
    scaled = rng.random() * LAYERS
    layer = int(scaled) & (LAYERS - 1)  # it is less anyway; this saves a check of the index
    x: float = (scaled - np.floor(scaled) + _HALF) * _EDGE[layer]
    if x < _EDGE[layer + 1]:
        return x
    return _beyond(layer, x, borrowed(rng))


@kernel
def _beyond(layer: int, x: float, rng: np.random.Generator) -> float:
    """Return the draw that began with an x which may not be under the curve."""
    start = 0.0
    while x >= _EDGE[layer + 1]:
        if layer == 0:
            start += _TAIL  # what is beyond it is exponential again
        else:
            bottom, top = _HEIGHT[layer], _HEIGHT[layer + 1]
            if bottom + rng.random() * (top - bottom) < math.exp(-x):
                break
        scaled = rng.random() * LAYERS
        layer = int(scaled)
        x = (scaled - layer + _HALF) * _EDGE[layer]
    return start + x
