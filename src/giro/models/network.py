"""Network: one hidden layer, trained by stochastic gradient descent (Rumelhart et al., 1986)."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import Count, Positive
from giro.compiling import kernel
from giro.kernels.network import (
    NetworkWeights,
    Workspace,
    clipped_sigmoid,
    empty_workspace,
    entries_of,
    network_at,
    random_networks,
    score_of,
    train,
    width_of,
)
from giro.model import Model, Sample, recent, whole_counts
from giro.offer import Context


class _State(NamedTuple):
    networks: NetworkWeights  # [slot, ...]
    workspace: Workspace
    rate: float
    passes: int

    def widened(self, old: "_State") -> None:
        """Begin with weights of 0 for new columns, which stay 0 while these are."""
        n, width = old.networks.hidden.shape
        self.networks.hidden[:n, width:] = 0.0


@kernel
def _refit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Train on the sample `passes` times in random order, from the slot's last weights."""
    sample = recent(sample)
    entries = entries_of(sample.positions, whole_counts(sample, rng))
    how = (state.rate, state.passes)
    train(network_at(state.networks, slot), state.workspace, sample.rows, entries, how, rng)


@kernel
def _partial_fit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Train on the whole sample again, because a network does not learn single rows."""
    _refit(state, slot, sample, rng)


@kernel
def _value(state: _State, slot: int, context: Context) -> float:
    return clipped_sigmoid(score_of(network_at(state.networks, slot), context))


@dataclass(frozen=True)
class Network(Model, name="network"):
    """A network of `hidden` ReLU units and a sigmoid output, trained by descent in batches.

    Each fit goes `passes` times through the sample in random order, in batches of `batch` entries,
    and moves the weights by -`rate` times the mean gradient of the cross-entropy. It starts from
    the slot's last weights. Defaults are those of Keras and of the paper. Initial weights are
    uniform within ±sqrt(6 / (inputs + outputs)) of their layer (Glorot and Bengio, 2010), and the
    output's bias is 0. Differs from Keras: hidden units have no bias other than the weight of the
    context's constant 1, which is initially random like the others. Weights are kept within ±1e50,
    so that contexts on which descent diverges give useless but finite values.
    """

    source = "Rumelhart, Hinton and Williams 1986"
    fitting = "train"
    refit = staticmethod(_refit)
    partial_fit = staticmethod(_partial_fit)
    value = staticmethod(_value)
    takes_weights = False

    hidden: Count = field(default=10, kw_only=True)
    batch: Count = field(default=32, kw_only=True)
    rate: Positive = field(default=0.01, kw_only=True)
    passes: Count = field(default=1, kw_only=True)

    def start(self, slots: int, n_features: int, capacity: int, rng: np.random.Generator) -> _State:
        """Return networks with random weights."""
        networks = random_networks(slots, n_features, self.hidden, rng)
        workspace = empty_workspace(n_features, width_of(self.hidden), self.batch)
        return _State(networks, workspace, float(self.rate), int(self.passes))
