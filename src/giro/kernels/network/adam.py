"""Steps of a network by Adam (Kingma and Ba, 2015): each weight has a rate of its own."""

import math
from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.network.step import (
    LARGEST,
    Weights,
    Workspace,
    gather_gradient,
    set_level,
    spread_errors,
)
from giro.kernels.regression.rows import Rows

_MEAN, _SQUARE, _TINY = 0.9, 0.999, 1e-8  # β₁, β₂ and ε of the paper


class Moments(NamedTuple):
    """Running means of a network's gradient and of its square."""

    mean: Weights
    square: Weights
    missing: np.ndarray  # [2] by which they fall short: they begin at zero


class Pace(NamedTuple):
    """How far a step goes."""

    rate: float
    decay: float  # of the weights: times half their squared length is added to the loss


@kernel
def take_adam_step(
    network: Weights,
    moments: Moments,
    workspace: Workspace,
    rows: Rows,
    entries: np.ndarray,
    pace: Pace,
) -> None:
    """Move the weights once, along the mean gradient at these entries."""
    set_level(network, workspace, rows)
    bias = spread_errors(network, workspace, rows, entries, entries[:0])
    gather_gradient(workspace, rows, entries.size)
    moments.missing[0] *= _MEAN
    moments.missing[1] *= _SQUARE
    scale = math.sqrt(1.0 - moments.missing[1]) / (1.0 - moments.missing[0])
    share, how = 1.0 / entries.size, Pace(pace.rate * scale, pace.decay)
    mean, square = moments.mean, moments.square
    _move(network.hidden, workspace.hidden, share, mean.hidden, square.hidden, how)
    _move(network.output, workspace.output, share, mean.output, square.output, how)
    workspace.total[0] = bias
    _move(network.bias, workspace.total[:1], share, mean.bias, square.bias, how)
    workspace.hidden[:] = 0.0


@kernel
def _move(
    weights: np.ndarray,
    gradient: np.ndarray,
    share: float,
    mean: np.ndarray,
    square: np.ndarray,
    how: Pace,
) -> None:
    """Move weights by their gradient, of which `share` is the factor that makes it a mean."""
    for i in range(weights.size):
        slope = share * gradient[i] + how.decay * weights[i]
        mean[i] = _MEAN * mean[i] + (1.0 - _MEAN) * slope
        square[i] = _SQUARE * square[i] + (1.0 - _SQUARE) * slope * slope
        moved = weights[i] - how.rate * mean[i] / (math.sqrt(square[i]) + _TINY)
        weights[i] = min(max(moved, -LARGEST), LARGEST)
