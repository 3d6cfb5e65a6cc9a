"""Passes of a network over a bootstrap sample, entry by entry in random order."""

import numpy as np

from giro.compiling import kernel
from giro.kernels.draws.uniform import shuffle
from giro.kernels.network.step import (
    Weights,
    Workspace,
    entry_of,
    set_level,
    take_step,
)
from giro.kernels.regression.rows import Rows


@kernel
def train(
    network: Weights,
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
    network: Weights, workspace: Workspace, rows: Rows, entries: np.ndarray, rate: float
) -> None:
    """Go once through the entries as they are ordered, in batches; the last may be smaller."""
    batch, n = workspace.errors.size, entries.size
    set_level(network, workspace, rows)
    for first in range(0, n, batch):
        end = min(first + batch, n)
        ahead = entries[end : min(end + batch, n)]
        take_step(network, workspace, rows, entries[first:end], ahead, rate)
