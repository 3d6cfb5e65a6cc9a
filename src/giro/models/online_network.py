"""Online network: one hidden layer, a few steps of Adam per reward (Kingma and Ba, 2015)."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import NOT_NEGATIVE, POSITIVE, check, whole
from giro.compiling import kernel
from giro.kernels.draws.uniform import integer_below, shuffle, uniforms
from giro.kernels.giro.pseudo_rewards import REAL
from giro.kernels.network import (
    AdamMoments,
    NetworkWeights,
    Pace,
    Workspace,
    aligned_zeros,
    clipped_sigmoid,
    empty_workspace,
    entries_of,
    entry_of,
    score_of,
    take_adam_step,
    width_of,
)
from giro.model import MOST_ROWS, Model, Sample
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
            for i in range(1, batch.size):
                batch[i] = entry_of(sample.positions[integer_below(n, rng)], REAL)
            _step(state, number, sample, batch)


@kernel
def _refit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Train on the sample once in random order, from the slot's last weights."""
    entries, size = entries_of(sample.positions, sample.counts), state.batch.size
    for number in range(slot * state.copies, (slot + 1) * state.copies):
        shuffle(entries, rng)
        for first in range(0, entries.size, size):
            _step(state, number, sample, entries[first : first + size])


@kernel
def _step(state: _State, number: int, sample: Sample, entries: np.ndarray) -> None:
    moments = AdamMoments(_of(state.mean, number), _of(state.square, number), state.missing[number])
    network = _of(state.networks, number)
    take_adam_step(network, moments, state.workspace, sample.rows, entries, state.pace)


@kernel
def _of(weights: NetworkWeights, number: int) -> NetworkWeights:
    """Return the weights of one network."""
    return NetworkWeights(weights.hidden[number], weights.output[number], weights.bias[number])


@kernel
def _value(state: _State, slot: int, context: Context) -> float:
    total = 0.0
    for number in range(slot * state.copies, (slot + 1) * state.copies):
        total += clipped_sigmoid(score_of(_of(state.networks, number), context))
    return total / state.copies


@dataclass(frozen=True)
class OnlineNetwork(Model, name="online-network"):
    """Networks of `hidden` ReLU units and a sigmoid output, trained at a constant cost per reward.

    Each reward takes `steps` steps of Adam for each of the slot's `copies` networks, on `batch` of
    its rows: the newest, and others drawn with replacement, from a uniform sample of 16,384
    (`giro.model.MOST_ROWS`) if there are more. The prediction is the mean of the
    copies, which differ in their first weights and draws. A fit to a whole sample goes through it
    once. The loss is the cross-entropy plus `decay` times half the weights' squared length.
    """

    source = "Kingma and Ba 2015, Algorithm 1; Lin 1992 (replay)"
    fitting = "history"
    most_rows = MOST_ROWS
    refit = staticmethod(_refit)
    partial_fit = staticmethod(_partial_fit)
    value = staticmethod(_value)

    hidden: int = field(default=32, kw_only=True)
    copies: int = field(default=2, kw_only=True)
    steps: int = field(default=4, kw_only=True)
    batch: int = field(default=16, kw_only=True)
    rate: float = field(default=0.01, kw_only=True)
    decay: float = field(default=0.001, kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        check(
            self.name,
            whole(1),
            hidden=self.hidden,
            copies=self.copies,
            steps=self.steps,
            batch=self.batch,
        )
        check(self.name, POSITIVE, rate=self.rate)
        check(self.name, NOT_NEGATIVE, decay=self.decay)

    def start(self, slots: int, n_features: int, capacity: int, rng: np.random.Generator) -> _State:
        """Return networks with random weights."""
        d, width, n = n_features, width_of(self.hidden), slots * self.copies
        networks = _zeros(n, d, width)
        inner, outer = math.sqrt(6 / (d + self.hidden)), math.sqrt(6 / (self.hidden + 1))
        drawn = uniforms(-1.0, 1.0, (n, d + 1, self.hidden), rng)  # slot by slot
        networks.hidden.reshape(n, d, width)[:, :, : self.hidden] = inner * drawn[:, :d]
        networks.output[:, : self.hidden] = outer * drawn[:, d]
        return _State(
            networks,
            _zeros(n, d, width),
            _zeros(n, d, width),
            np.ones((n, 2)),
            np.empty(self.batch, np.int32),
            empty_workspace(d, width, self.batch),
            Pace(float(self.rate), float(self.decay)),
            int(self.steps),
            int(self.copies),
        )


def _zeros(networks: int, d: int, width: int) -> NetworkWeights:
    return NetworkWeights(
        aligned_zeros(networks, d * width), aligned_zeros(networks, width), np.zeros((networks, 1))
    )
