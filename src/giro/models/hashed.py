"""Hashed: a linear model of any number of features, in a table of fixed size."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import POSITIVE, SHARE, Needed, check
from giro.compiling import kernel
from giro.hashing import mixed, product_key
from giro.kernels.hashed import (
    MEAN,
    Entries,
    Table,
    TableRows,
    empty_table,
    pass_time,
    round_entries,
    scales_of,
    update_table,
)
from giro.model import Model, Sample, recent
from giro.offer import Context

_BITS = Needed("a whole number {} from 1 to 30", lambda bits: bits in range(1, 31))


class _State(NamedTuple):
    table: Table  # of all slots: a slot is part of the keys
    seen: np.ndarray  # [slot, 2] see `Table`


@kernel
def _columns(state: _State, slot: int, entries: Entries) -> np.ndarray:
    """Return the columns of a row in a slot."""
    columns, slot_key = np.empty(entries.begin[1], np.int64), mixed(slot)
    for j in range(columns.size):
        columns[j] = product_key(entries.key[j], slot_key) & (state.table.squares.size - 1)
    return columns


@kernel
def _partial_fit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    pass_time(state.table, state.seen, sample.memory)
    _take_in(state, slot, sample, sample.positions.size - 1)


@kernel
def _refit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Clear the columns of these rows, and learn one row after the other."""
    table = state.table
    state.seen[slot] = 0.0
    for i in range(sample.positions.size):
        row = sample.rows.contexts[sample.positions[i]]
        columns = _columns(state, slot, round_entries(row, scales_of(table), False))
        for j in range(columns.size):
            table.weights[columns[j], MEAN:] = 0.0
            table.squares[columns[j]] = 0.0
    counted = recent(sample)
    for i in range(counted.positions.size):
        _take_in(state, slot, counted, i)


@kernel
def _take_in(state: _State, slot: int, sample: Sample, i: int) -> None:
    row, table = sample.positions[i], state.table
    entries = round_entries(sample.rows.contexts[row], scales_of(table), True)
    columns = _columns(state, slot, entries)
    slot_rows = TableRows(entries.begin, columns, entries.value[: columns.size])
    slot_table = Table(
        table.weights,
        table.squares,
        table.moments,
        state.seen[slot],
        table.worth,
        table.rate,
        table.offset,
    )
    update_table(slot_table, slot_rows, sample.rows.rewards[row], sample.counts[i : i + 1])


@kernel
def _value(state: _State, slot: int, context: Context) -> float:
    entries, total = round_entries(context, scales_of(state.table), False), state.table.offset
    columns = _columns(state, slot, entries)
    for j in range(columns.size):
        total += np.float64(state.table.weights[columns[j], MEAN]) * np.float64(entries.value[j])
    return total


@dataclass(frozen=True)
class Hashed(Model, name="hashed"):
    """Linear regression on any number of features, with names instead of columns, and products.

    A feature's weight is in one of 2^`bits` columns, found by hashing. Features with the same
    column share a weight. Each reward is learned once, by a gradient step of size `rate` that
    adapts to every column's past and cannot overshoot the reward (see `giro.kernels.hashed`). The
    scale of numbers does not matter. Before anything is learned, the prediction is `offset`: 1 is
    optimistic.

    In `giro-ensemble`, `poisson-bootstrap`, `greedy`, `epsilon-greedy`, `squarecb`, `fastcb` and
    `cover` one table holds all arms and replicas. Its features are those of the round, those of the
    arm (the arm itself if it has none), and the products of both. There, features may be sparse,
    with names and words instead of columns (see `giro.Bandit`). In other policies it is a model
    like any other.
    With a half-life, the past that steps adapt to fades. With a `window` two tables take turns,
    each begun anew in its time (see `giro.kernels.generations`): the one that answers has learned
    at most the last `window` rewards and at least half as many. A step cannot be taken back, so a
    window is not more exact than that, and other policies refuse it with this model.
    """

    source = "Weinberger et al. 2009; Karampatziakis and Langford 2011; Ross et al. 2013"
    fitting = "row"
    refit = staticmethod(_refit)
    partial_fit = staticmethod(_partial_fit)
    value = staticmethod(_value)

    bits: int = 18
    rate: float = field(default=0.1, kw_only=True)
    offset: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        check(self.name, _BITS, bits=self.bits)
        check(self.name, POSITIVE, rate=self.rate)
        check(self.name, SHARE, offset=self.offset)

    def forgetting(self, *, windowed: bool) -> Model:
        """Return the model itself, which has no window where it is one like any other."""
        return self.without_window(windowed=windowed)

    def table(self, replicas: int) -> Table:
        """Return a table for all arms, with weights for this many replicas."""
        return empty_table(self.bits, replicas, self.rate, self.offset)

    def start(self, slots: int, n_features: int, capacity: int, rng: np.random.Generator) -> _State:
        """Return weights of zero."""
        return _State(self.table(1), np.zeros((slots, 2)))
