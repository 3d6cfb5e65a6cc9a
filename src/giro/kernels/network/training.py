"""Training of a network: passes over a bootstrap sample in random order, and steps by Adam.

In a pass every entry is taken once. By Adam (Kingma and Ba, 2015) each weight has its own rate.
"""

import math
from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.draws.uniform import shuffle
from giro.kernels.network.step import (
    LARGEST,
    NetworkWeights,
    Workspace,
    entry_of,
    gather_gradient,
    set_level,
    spread_errors,
    take_step,
)
from giro.kernels.regression.rows import Rows

_MEAN, _SQUARE, _TINY = 0.9, 0.999, 1e-8  # β₁, β₂ and ε of the paper


@kernel
def train(
    network: NetworkWeights,
    workspace: Workspace,
    rows: Rows,
    entries: np.ndarray,
    how: tuple[float, int],
    rng: np.random.Generator,
) -> None:
    """Go through the entries, each time in a new random order; `how` is the rate and the passes."""
    rate, passes = how
    for _ in range(passes):
        shuffle(entries, rng)
        descend(network, workspace, rows, entries, rate)


@kernel
def entries_of(positions: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return each row as often as it was drawn, with its kind of reward (see `entry_of`).

    Most counts are 0, 1 or 2: writing twice each time is quicker than finding out.
    """
    n = 0
    for i in range(positions.size):
        for kind in range(counts.shape[1]):
            n += counts[i, kind]
    entries = np.empty(n + 2, np.int32)
    n = 0
    for i in range(positions.size):
        for kind in range(counts.shape[1]):
            entry, count = entry_of(positions[i], kind), counts[i, kind]
            entries[n] = entry
            entries[n + 1] = entry
            for more in range(2, count):
                entries[n + more] = entry
            n += count
    return entries[:n]


@kernel
def descend(
    network: NetworkWeights, workspace: Workspace, rows: Rows, entries: np.ndarray, rate: float
) -> None:
    """Go once through the entries as they are ordered, in batches; the last may be smaller."""
    batch, n = workspace.errors.size, entries.size
    set_level(network, workspace, rows)
    for first in range(0, n, batch):
        end = min(first + batch, n)
        ahead = entries[end : min(end + batch, n)]
        take_step(network, workspace, rows, entries[first:end], ahead, rate)


class AdamMoments(NamedTuple):
    """Running means of a network's gradient and of its square."""

    mean: NetworkWeights
    square: NetworkWeights
    missing: np.ndarray  # [2] by which they fall short: they begin at zero


class Pace(NamedTuple):
    """How far a step goes."""

    rate: float
    decay: float  # of the weights: times half their squared length is added to the loss


@kernel
def take_adam_step(
    network: NetworkWeights,
    moments: AdamMoments,
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
