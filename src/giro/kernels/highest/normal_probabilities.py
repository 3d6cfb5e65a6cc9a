"""The probability of each arm to have the highest of independent normal draws."""

import math
from typing import NamedTuple

import numpy as np

from giro.compiling import bind, kernel
from giro.kernels.highest.densities import (
    NODE,
    NODES,
    coordinates,
    highest_probabilities,
    put_density,
)
from giro.kernels.highest.probabilities import argmax_probabilities

_REACH = 9.0  # deviations beyond which a tail is < 1e-18
_LEAST = 1e-13  # deviation, relative to the largest
_PEAK = 1.0 / math.sqrt(2.0 * math.pi)


class _Normals(NamedTuple):
    """The arms' densities."""

    middle: np.ndarray  # [arm] mean
    scale: np.ndarray  # [arm] deviation
    high: np.ndarray  # [arm] the density is negligible above this


@kernel
def normal_argmax_probabilities(means: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """Return the probability [arm] that the arm's value is the highest.

    The error is below 1e-12. If all deviations are zero, the highest means share; where some are
    much smaller than others they are taken as 1e-13 of these.
    """
    if not deviations.max() > 0.0:
        return argmax_probabilities(means, np.empty(0))
    means = means - means.max()  # near 0, where numbers are dense
    deviations = np.maximum(deviations, _LEAST * max(-means.min(), deviations.max()))
    law = _Normals(means, deviations, means + _REACH * deviations)
    return highest_probabilities(law, (means - _REACH * deviations).max())


@kernel
def _coordinates(law: _Normals, low: float, width: float, out: np.ndarray) -> None:
    for node in range(NODES):
        out[node, 0] = width * NODE[node]


@kernel
def _put_density(law: _Normals, arm: int, low: float, at: np.ndarray, out: np.ndarray) -> None:
    start, steepness = (low - law.middle[arm]) / law.scale[arm], 1.0 / law.scale[arm]
    for node in range(NODES):
        z = start + at[node, 0] * steepness
        out[node] = _PEAK * steepness * math.exp(-0.5 * z * z)


bind(coordinates, _Normals, _coordinates)
bind(put_density, _Normals, _put_density)
