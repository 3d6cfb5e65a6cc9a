"""Exponential and normal draws by the ziggurat, gamma draws, and beta draws as shares of them.

The ziggurat is that of Marsaglia and Tsang (2000, "The ziggurat method"). The area under a
decreasing curve is divided into layers of equal area. Layer 0 is the rectangle under the start of
the tail, together with the tail. Each other layer is a rectangle on top of the one before, as wide
as the curve there. Up to the edge of the layer above, a layer lies entirely under the curve, so
that few of its points need the curve itself.

Ten bits of a uniform number choose the layer, the other 43 the place in it. No bit is used twice,
unlike in the paper.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from giro.compiling import borrowed, inline_kernel, kernel
from giro.kernels.draws.logarithms import UNIT, log1p, to_fixed_point

_LAYERS = 1024


class _Layers(NamedTuple):
    """Layers of equal area, from the widest at the bottom to the top."""

    edge: np.ndarray  # [layer] right edge, of layer 0 as if it had no tail; then 0
    height: np.ndarray  # [layer] bottom, of layer 0 its top; then 1
    tail: float  # start of the tail


def _layers(start: str, height: str, area: str, edge_at: Callable[[int], int]) -> _Layers:
    """Return the layers of a curve that has height exp(-surprise) at `edge_at(surprise)`.

    The tail starts at `start`, where the curve has this `height`, so that the layers end at
    height 1.
    """
    x, y, layer = to_fixed_point(start), to_fixed_point(height), to_fixed_point(area)
    edges, heights = [layer * UNIT // y, x], [y, y]
    surprise = x if edge_at(x) == x else x * x // (2 * UNIT)
    while len(edges) < _LAYERS:
        more = layer * UNIT // edges[-1]
        surprise -= log1p(more * UNIT // y)
        y += more
        edges.append(edge_at(surprise))
        heights.append(y)
    return _Layers(
        np.array([edge / UNIT for edge in edges] + [0.0]),
        np.array([height / UNIT for height in heights] + [1.0]),
        float(start),
    )


# -- exponential: under exp(-x) ------------------------------------------------------------------

_EXP_EDGE, _EXP_HEIGHT, _EXP_TAIL = _layers(
    start="9.25616454426554368669752752862321625259",
    height="0.0000955209899796100542163984925193948160348",
    area="0.000979678990662020916836327161063869046842",
    edge_at=lambda surprise: surprise,
)
_HALF = 0.5**44  # of the distance between the places of a layer: the first is not 0


@inline_kernel
def standard_exponential(rng: np.random.Generator) -> float:
    """Return a draw from Exp(1). Of 155 draws, 154 need only one uniform number."""
    scaled = rng.random() * _LAYERS
    layer = int(scaled) & (_LAYERS - 1)  # it is always less; this saves a check of the index
    x: float = (scaled - np.floor(scaled) + _HALF) * _EXP_EDGE[layer]
    if x < _EXP_EDGE[layer + 1]:
        return x
    return _exponential_beyond(layer, x, borrowed(rng))


@kernel
def _exponential_beyond(layer: int, x: float, rng: np.random.Generator) -> float:
    """Complete a draw that began with an x that may not be under the curve."""
    start = 0.0
    while x >= _EXP_EDGE[layer + 1]:
        if layer == 0:
            start += _EXP_TAIL  # beyond it the distribution is exponential again
        else:
            bottom, top = _EXP_HEIGHT[layer], _EXP_HEIGHT[layer + 1]
            if bottom + rng.random() * (top - bottom) < math.exp(-x):
                break
        scaled = rng.random() * _LAYERS
        layer = int(scaled)
        x = (scaled - layer + _HALF) * _EXP_EDGE[layer]
    return start + x


# -- normal: under exp(-x^2 / 2), left and right -------------------------------------------------

_NORMAL_EDGE, _NORMAL_HEIGHT, _NORMAL_TAIL = _layers(
    start="4.03884984610950452271442340533593120470",
    height="0.000286963927083327451818818682870584266474",
    area="0.00122632464635308807288537092773712706189",
    edge_at=lambda surprise: math.isqrt(2 * surprise * UNIT),
)
_MIDDLE = 1.0 - 0.5**43  # of the places 0, 2^-42, ..., 2 - 2^-42


@inline_kernel
def standard_normal(rng: np.random.Generator) -> float:
    """Return a draw from N(0, 1). Of 230 draws, 229 need only one uniform number."""
    scaled = rng.random() * _LAYERS
    layer = int(scaled) & (_LAYERS - 1)  # it is always less; this saves a check of the index
    x: float = (2.0 * (scaled - np.floor(scaled)) - _MIDDLE) * _NORMAL_EDGE[layer]
    if abs(x) < _NORMAL_EDGE[layer + 1]:
        return x
    return _normal_beyond(layer, x, borrowed(rng))


@kernel
def _normal_beyond(layer: int, x: float, rng: np.random.Generator) -> float:
    """Complete a draw that began with an x that may not be under the curve."""
    while abs(x) >= _NORMAL_EDGE[layer + 1]:
        if layer == 0:
            return math.copysign(_normal_tail(rng), x)
        bottom, top = _NORMAL_HEIGHT[layer], _NORMAL_HEIGHT[layer + 1]
        if bottom + rng.random() * (top - bottom) < math.exp(-0.5 * x * x):
            break
        scaled = rng.random() * _LAYERS
        layer = int(scaled)
        x = (2.0 * (scaled - layer) - _MIDDLE) * _NORMAL_EDGE[layer]
    return x


@kernel
def _normal_tail(rng: np.random.Generator) -> float:
    """Return a draw from the tail: an exponential of rate `_NORMAL_TAIL`, thinned.

    The method is that of Marsaglia (1964).
    """
    x = standard_exponential(rng) / _NORMAL_TAIL
    while 2.0 * standard_exponential(rng) < x * x:
        x = standard_exponential(rng) / _NORMAL_TAIL
    return _NORMAL_TAIL + x


def normals(mean: float, sd: float, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Return an array of draws from N(mean, sd^2)."""
    out = np.empty(shape)
    _fill(out.reshape(-1), rng)
    return mean + sd * out


@kernel
def _fill(out: np.ndarray, rng: np.random.Generator) -> None:
    for i in range(out.size):
        out[i] = standard_normal(rng)


# -- gamma and beta --------------------------------------------------------------------------------

_SMALLEST = 1e-300  # any smaller shape gives 0, like this one
_ONE_OVER_E = math.exp(-1.0)


@inline_kernel
def standard_gamma(shape: float, rng: np.random.Generator) -> float:
    """Return a draw from Gamma(shape, 1), shape > 0, with 0 for draws too small for a float."""
    rng = borrowed(rng)
    if shape < 1.0:
        return _gamma_below_1(shape, rng)
    return _gamma_from_1(shape, rng)


@inline_kernel
def _gamma_from_1(shape: float, rng: np.random.Generator) -> float:
    """Return a draw of shape 1 or more: d v, where v is the cube of a normal variable, thinned.

    The method is that of Marsaglia and Tsang (2000, "A simple method for generating gamma
    variables"), Section 4. Nine of ten draws are inside their squeeze.
    """
    rng = borrowed(rng)
    if shape == 1.0:
        return standard_exponential(rng)
    d = shape - 1.0 / 3.0
    c: float = 1.0 / np.sqrt(9.0 * d)
    x, u = standard_normal(rng), rng.random()
    v = 1.0 + c * x
    if v > 0.0 and u < 1.0 - 0.0331 * (x * x) * (x * x):
        return d * (v * v * v)
    return _outside_squeeze(x, u, d, c, rng)


@kernel
def _outside_squeeze(x: float, u: float, d: float, c: float, rng: np.random.Generator) -> float:
    """Complete a draw that began with x and u."""
    rng = borrowed(rng)
    while True:
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            if u < 1.0 - 0.0331 * (x * x) * (x * x):
                return d * v
            if u > 0.0 and math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
                return d * v
        x, u = standard_normal(rng), rng.random()


@kernel
def _gamma_below_1(shape: float, rng: np.random.Generator) -> float:
    """Return a draw of shape below 1, by rejection (Ahrens and Dieter, 1974, algorithm GS).

    The hat is x^(shape - 1) up to 1, so that x is a power of a uniform number, and exp(-x) beyond.
    """
    rng = borrowed(rng)
    beyond = shape * _ONE_OVER_E  # the area of the hat beyond 1; that up to 1 is 1
    while True:
        if rng.random() * (1.0 + beyond) < 1.0:
            x = math.exp(-standard_exponential(rng) / max(shape, _SMALLEST))
            if standard_exponential(rng) >= x:
                return x
        else:
            x = 1.0 + standard_exponential(rng)
            if standard_exponential(rng) >= (1.0 - shape) * math.log(x):
                return x


@inline_kernel
def beta(a: float, b: float, rng: np.random.Generator) -> float:
    """Return a draw from Beta(a, b), a and b > 0.

    Unless both are at most 1, it is X / (X + Y) for gamma variables of shapes a and b.
    """
    rng = borrowed(rng)
    if a < 1.0 or b < 1.0 or a == b == 1.0:
        return _beta_of_small(a, b, rng)
    one, other = _gamma_from_1(a, rng), _gamma_from_1(b, rng)
    return one / (one + other)


@kernel
def _beta_of_small(a: float, b: float, rng: np.random.Generator) -> float:
    """Return a draw for a shape below 1, or both equal to 1.

    If both are at most 1, it is x / (x + y) with x = U^(1/a) and y = V^(1/b), given x + y <= 1
    (Jöhnk, 1964). If these are too small for a float, their logarithms decide.
    """
    rng = borrowed(rng)
    if a > 1.0 or b > 1.0:
        one, other = standard_gamma(a, rng), standard_gamma(b, rng)
        return one / (one + other)
    if a == b == 1.0:
        return rng.random()
    if a < _SMALLEST and b < _SMALLEST:
        return 1.0 if rng.random() * (a + b) < a else 0.0  # nearly
    while True:
        log_x = -standard_exponential(rng) / max(a, _SMALLEST)
        log_y = -standard_exponential(rng) / max(b, _SMALLEST)
        x, y = math.exp(log_x), math.exp(log_y)
        if x + y <= 1.0:
            break
    if x + y > _SMALLEST:
        return x / (x + y)
    return 1.0 / (1.0 + math.exp(log_y - log_x)) if log_y - log_x < 700.0 else 0.0
