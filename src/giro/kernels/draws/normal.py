"""Normal draws."""

import math

import numpy as np

from giro.compiling import borrowed, inline_kernel, kernel
from giro.kernels.draws.exponential import standard_exponential
from giro.kernels.draws.ziggurat import LAYERS, normal_layers

_START = "4.03884984610950452271442340533593120470"  # so that the layers end at height 1
_LAYERS = normal_layers(
    start=_START,
    height="0.000286963927083327451818818682870584266474",
    area="0.00122632464635308807288537092773712706189",
)
_EDGE, _HEIGHT, _TAIL = _LAYERS.edge, _LAYERS.height, float(_START)
_MIDDLE = 1.0 - 0.5**43  # of the places 0, 2^-42, ..., 2 - 2^-42


@inline_kernel
def standard_normal(rng: np.random.Generator) -> float:
    """Return a draw from N(0, 1), by the ziggurat of Marsaglia and Tsang (2000).

    Ten bits of a uniform number choose the layer, the other 43 the place in it, left or right: no
    bit is used twice, as some are in the paper. Of 230 draws 229 need nothing else.
    """
    scaled = rng.random() * LAYERS
    layer = int(scaled) & (LAYERS - 1)  # it is less anyway; this saves a check of the index
    x: float = (2.0 * (scaled - np.floor(scaled)) - _MIDDLE) * _EDGE[layer]
    if abs(x) < _EDGE[layer + 1]:
        return x
    return _beyond(layer, x, borrowed(rng))


@kernel
def _beyond(layer: int, x: float, rng: np.random.Generator) -> float:
    """Return the draw that began with an x which may not be under the curve."""
    while abs(x) >= _EDGE[layer + 1]:
        if layer == 0:
            return math.copysign(_beyond_start(rng), x)
        bottom, top = _HEIGHT[layer], _HEIGHT[layer + 1]
        if bottom + rng.random() * (top - bottom) < math.exp(-0.5 * x * x):
            break
        scaled = rng.random() * LAYERS
        layer = int(scaled)
        x = (2.0 * (scaled - layer) - _MIDDLE) * _EDGE[layer]
    return x


@kernel
def _beyond_start(rng: np.random.Generator) -> float:
    """Return a draw from the tail: an exponential of rate `_TAIL`, thinned (Marsaglia, 1964)."""
    x = standard_exponential(rng) / _TAIL
    while 2.0 * standard_exponential(rng) < x * x:
        x = standard_exponential(rng) / _TAIL
    return _TAIL + x


def normals(mean: float, sd: float, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Return an array of draws from N(mean, sd^2)."""
    out = np.empty(shape)
    _fill(out.reshape(-1), rng)
    return mean + sd * out


@kernel
def _fill(out: np.ndarray, rng: np.random.Generator) -> None:
    for i in range(out.size):
        out[i] = standard_normal(rng)
