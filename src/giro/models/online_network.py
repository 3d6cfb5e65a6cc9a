"""Online network: one hidden layer, a few steps of Adam per reward (Kingma and Ba, 2015)."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from giro.checks import Count, NotNegative, Positive
from giro.compiling import bind, dispatched_call, kernel
from giro.kernels.draws.uniform import integer_below, shuffle
from giro.kernels.giro.pseudo_rewards import REAL
from giro.kernels.memory import (
    REACH,
    Everything,
    HalfLife,
    Window,
    first_since,
    left_since,
)
from giro.kernels.network import (
    AdamMoments,
    NetworkWeights,
    Pace,
    Workspace,
    clipped_sigmoid,
    empty_workspace,
    entries_of,
    entry_of,
    network_at,
    random_networks,
    score_of,
    take_adam_step,
    width_of,
    zero_networks,
)
from giro.model import MOST_ROWS, Model, Sample, recent, whole_counts
from giro.offer import Context


class _State(NamedTuple):
    networks: NetworkWeights  # [slot · network, ...]
    mean: NetworkWeights
    square: NetworkWeights
    missing: np.ndarray  # [slot · network, 2] see `AdamMoments`
    batch: np.ndarray  # [i] workspace for the entries of a step
    workspace: Workspace
    pace: Pace
    steps: int
    copies: int  # networks in a slot

    def widened(self, old: "_State") -> None:
        """Begin with weights of 0 for new columns, which stay 0 while these are."""
        n, width = old.networks.hidden.shape
        self.networks.hidden[:n, width:] = 0.0


@kernel
def _partial_fit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Take some steps, each with the last row and others drawn from the sample."""
    n, batch = sample.positions.size, state.batch[: min(sample.positions.size, state.batch.size)]
    for number in range(slot * state.copies, (slot + 1) * state.copies):
        for _ in range(state.steps):
            batch[0] = entry_of(sample.positions[n - 1], REAL)
            _fill(sample.memory, sample.positions, batch[1:], rng)
            _step(state, number, sample, batch)


@dispatched_call
def _fill(memory: Any, positions: np.ndarray, batch: np.ndarray, rng: np.random.Generator) -> None:
    """Fill the batch with entries of rows, drawn by how much they count."""
    raise TypeError("replaced by dispatch")


def _from_all(
    memory: Everything, positions: np.ndarray, batch: np.ndarray, rng: np.random.Generator
) -> None:
    for i in range(batch.size):
        batch[i] = entry_of(positions[integer_below(positions.size, rng)], REAL)


def _from_window(
    memory: Window, positions: np.ndarray, batch: np.ndarray, rng: np.random.Generator
) -> None:
    first = first_since(memory.times, positions, memory.learned[0] - memory.size)
    for i in range(batch.size):
        place = first + integer_below(positions.size - first, rng)
        batch[i] = entry_of(positions[place], REAL)


def _by_weight(
    memory: HalfLife, positions: np.ndarray, batch: np.ndarray, rng: np.random.Generator
) -> None:
    """Draw a block of about a half-life and one of its rows, and reject it by its age there."""
    length = max(memory.reach // REACH, 1)
    share = memory.factor ** float(length)  # what is left after a block
    first, blocks, total = np.empty(REACH + 1, np.int64), 0, 0.0
    first[0] = positions.size
    while blocks < REACH and first[blocks] > 0:
        time = memory.learned[0] - (blocks + 1) * length
        first[blocks + 1] = first_since(memory.times, positions, time)
        total += share ** float(blocks) * (first[blocks] - first[blocks + 1])
        blocks += 1
    i = 0
    while i < batch.size:
        block, weight, remainder = 0, 1.0, total * rng.random()
        rows = first[0] - first[1]
        while remainder >= weight * rows and block < blocks - 1:
            remainder -= weight * rows
            block, weight = block + 1, weight * share
            rows = first[block] - first[block + 1]
        row = positions[first[block + 1] + integer_below(max(rows, 1), rng)]
        if rng.random() * weight < left_since(memory, memory.times[row] + 1):
            batch[i] = entry_of(row, REAL)
            i += 1


bind(_fill, Everything, _from_all)
bind(_fill, Window, _from_window)
bind(_fill, HalfLife, _by_weight)


@kernel
def _refit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Train on the sample once in random order, from the slot's last weights."""
    sample = recent(sample)
    entries, size = entries_of(sample.positions, whole_counts(sample, rng)), state.batch.size
    for number in range(slot * state.copies, (slot + 1) * state.copies):
        shuffle(entries, rng)
        for first in range(0, entries.size, size):
            _step(state, number, sample, entries[first : first + size])


@kernel
def _step(state: _State, number: int, sample: Sample, entries: np.ndarray) -> None:
    moments = AdamMoments(
        network_at(state.mean, number), network_at(state.square, number), state.missing[number]
    )
    network = network_at(state.networks, number)
    take_adam_step(network, moments, state.workspace, sample.rows, entries, state.pace)


@kernel
def _value(state: _State, slot: int, context: Context) -> float:
    total = 0.0
    for number in range(slot * state.copies, (slot + 1) * state.copies):
        total += clipped_sigmoid(score_of(network_at(state.networks, number), context))
    return total / state.copies


@dataclass(frozen=True)
class OnlineNetwork(Model, name="online-network"):
    """Networks of `hidden` ReLU units and a sigmoid output, trained at a constant cost per reward.

    Each reward takes `steps` steps of Adam for each of the slot's `copies` networks, on `batch` of
    its rows: the newest, and others drawn with replacement, from a uniform sample of 16,384
    (`giro.model.MOST_ROWS`) if there are more. The prediction is the mean of the
    copies, which differ in their first weights and draws. A fit to a whole sample goes through it
    once. The loss is the cross-entropy plus `decay` times half the weights' squared length. Steps
    of Adam do not shrink. In a world that changes, rows are drawn by how much they still count.
    """

    source = "Kingma and Ba 2015, Algorithm 1; Lin 1992 (replay)"
    fitting = "history"
    most_rows = MOST_ROWS
    refit = staticmethod(_refit)
    partial_fit = staticmethod(_partial_fit)
    value = staticmethod(_value)
    takes_weights = False

    hidden: Count = field(default=32, kw_only=True)
    copies: Count = field(default=2, kw_only=True)
    steps: Count = field(default=4, kw_only=True)
    batch: Count = field(default=16, kw_only=True)
    rate: Positive = field(default=0.01, kw_only=True)
    decay: NotNegative = field(default=0.001, kw_only=True)

    def start(self, slots: int, n_features: int, capacity: int, rng: np.random.Generator) -> _State:
        """Return networks with random weights."""
        d, n, hidden = n_features, slots * self.copies, self.hidden
        return _State(
            random_networks(n, d, hidden, rng),
            zero_networks(n, d, hidden),
            zero_networks(n, d, hidden),
            np.ones((n, 2)),
            np.empty(self.batch, np.int32),
            empty_workspace(d, width_of(hidden), self.batch),
            Pace(float(self.rate), float(self.decay)),
            int(self.steps),
            int(self.copies),
        )
