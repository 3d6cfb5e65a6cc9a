"""A linear model of hashed features, fitted row by row, in as many replicas as wanted.

A row holds a constant, the features of the round, those of the arm, and products of the two, each
with a key (`giro.hashing`) whose lowest bits are its column. What replica r expects is
`offset` + Σ z_j W[column_j, r]. The replicas of a column are neighbours in memory, so that a
feature costs a cache line or two and not one for each replica.

A row that replica r takes m_r times, with the mean reward y_r, moves its weights by

    (y_r - p_r) (1 - exp(-2 rate m_r q)) / q v_j z_j    with  q = Σ v_j z_j²,

which never goes beyond y_r and is what m_r steps of vanishing size add up to (Karampatziakis and
Langford, 2011). v_j = (n / N)^(1/2) / G_j^(1/2), where G_j sums z_j² times the squared errors so
far (AdaGrad; Duchi, Hazan and Singer, 2011), of all replicas on average, and n rows had the sum N
of z_j² (Ross, Mineiro and Langford, 2013).
"""

import math
from typing import NamedTuple

import numpy as np

from giro.compiling import inline_kernel, kernel
from giro.hashing import OF_CONSTANT, is_crossed, product_key
from giro.kernels.giro.bootstrap_counts import ONE, REAL, ZERO
from giro.kernels.hashed.entries import Entries, Scales, no_scales


class Table(NamedTuple):
    """Weights of all columns."""

    weights: np.ndarray  # [column, replica] float32
    squares: np.ndarray  # [column] float32, see above
    seen: np.ndarray  # [2] rows, and the sum of their squared entries
    scales: Scales
    rate: float
    offset: float  # what is expected where nothing was learned


def empty_table(bits: int, replicas: int, rate: float, offset: float) -> Table:
    """Return a table of 2^bits columns in which all weights are zero."""
    return Table(
        np.zeros((1 << bits, replicas), np.float32),
        np.zeros(1 << bits, np.float32),
        np.zeros(2),
        no_scales(1 << bits),
        float(rate),
        float(offset),
    )


@inline_kernel
def _add(weights: np.ndarray, column: int, value: np.float32, out: np.ndarray) -> None:
    """Add a column's weights, times a value."""
    for replica in range(out.size):
        out[replica] += value * weights[column, replica]


@kernel
def expected_of_arms(table: Table, round: Entries, arms: Entries) -> np.ndarray:
    """Return [i, replica] what each replica expects of each arm, float32."""
    weights, last = table.weights, table.weights.shape[0] - 1
    values = np.empty((arms.begin.size - 1, weights.shape[1]), np.float32)
    base = np.full(weights.shape[1], table.offset, np.float32)
    _add(weights, OF_CONSTANT & last, np.float32(1.0), base)
    n = round.begin[1]
    for c in range(n):
        _add(weights, round.key[c] & last, round.value[c], base)
    for i in range(values.shape[0]):
        row = values[i]
        row[:] = base
        for j in range(arms.begin[i], arms.begin[i + 1]):
            key, code, value = arms.key[j], arms.code[j], arms.value[j]
            _add(weights, key & last, value, row)
            for c in range(n):
                if is_crossed(round.code[c], code):
                    column = product_key(round.key[c], key) & last
                    _add(weights, column, round.value[c] * value, row)
    return values


@kernel
def columns_and_values(last: int, round: Entries, arm: Entries) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns and entries of the row of one arm in one round."""
    n, m = round.begin[1], arm.begin[1]
    columns, values = np.empty((n + 1) * (m + 1), np.int64), np.ones((n + 1) * (m + 1), np.float32)
    columns[0], filled = OF_CONSTANT & last, 1
    for c in range(n):
        columns[filled], values[filled] = round.key[c] & last, round.value[c]
        filled += 1
    for j in range(m):
        columns[filled], values[filled] = arm.key[j] & last, arm.value[j]
        filled += 1
        for c in range(n):
            if is_crossed(round.code[c], arm.code[j]):
                columns[filled] = product_key(round.key[c], arm.key[j]) & last
                values[filled] = round.value[c] * arm.value[j]
                filled += 1
    return columns[:filled], values[:filled]


@kernel
def take_in(
    table: Table, columns: np.ndarray, values: np.ndarray, reward: float, counts: np.ndarray
) -> None:
    """Let each replica take in a row, counts[replica] times with its reward, with 1 and with 0."""
    replicas = counts.shape[0]
    predicted, move = np.full(replicas, table.offset, np.float32), np.zeros(replicas, np.float32)
    for j in range(columns.size):
        _add(table.weights, columns[j], values[j], predicted)
    energy = 0.0
    for replica in range(replicas):
        times = counts[replica, REAL] + counts[replica, ONE] + counts[replica, ZERO]
        if times > 0:
            target = (counts[replica, REAL] * reward + counts[replica, ONE]) / times
            error = target - float(predicted[replica])
            energy += times * error * error
            move[replica] = error
    if energy == 0.0:
        return
    rates, q = _rates(table, columns, values, energy / replicas)
    for replica in range(replicas):
        times = counts[replica, REAL] + counts[replica, ONE] + counts[replica, ZERO]
        step = -math.expm1(-2.0 * table.rate * times * q) / q
        move[replica] = float(move[replica]) * step
    for j in range(columns.size):
        for replica in range(replicas):
            table.weights[columns[j], replica] += rates[j] * move[replica]


@kernel
def _rates(
    table: Table, columns: np.ndarray, values: np.ndarray, energy: float
) -> tuple[np.ndarray, float]:
    """Count the row; return v_j z_j of each entry, float32, and Σ v_j z_j²."""
    rates, q, length = np.empty(columns.size, np.float32), 0.0, 0.0
    for j in range(columns.size):
        square = float(values[j]) * float(values[j])
        table.squares[columns[j]] = float(table.squares[columns[j]]) + energy * square
        length += square
    table.seen[0] += 1.0
    table.seen[1] += length
    norm = math.sqrt(table.seen[0] / table.seen[1])
    for j in range(columns.size):
        z = float(values[j])
        rate = norm * z / math.sqrt(float(table.squares[columns[j]])) if z != 0.0 else 0.0
        q += rate * z
        rates[j] = rate
    return rates, q
