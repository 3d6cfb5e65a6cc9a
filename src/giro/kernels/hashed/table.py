"""A linear model of hashed features, fitted row by row, in as many replicas as wanted.

A row holds a constant, the features of the round, those of the arm, and products of the two, each
with a key (`giro.hashing`) whose lowest bits are its column. What replica r expects is
`offset` + Σ z_j W[column_j, r]. The replicas of a column are neighbours in memory, with their mean
and the scale of the column, so that a feature costs a cache line or two and not one for each
replica. Weights are single precision, sums are double.

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
from giro.hashing import KEYS, OF_CONSTANT, is_crossed, product_key
from giro.kernels.giro.pseudo_rewards import ONE, REAL, ZERO
from giro.kernels.hashed.entries import Entries, Scales
from giro.standardising import no_moments

LARGEST, MEAN, FIRST = 0, 1, 2  # places in a column: its scale, the mean of replicas, replica 0


class Table(NamedTuple):
    """Weights of all columns."""

    weights: np.ndarray  # [column, place] float32: scale, mean, and one for each replica
    squares: np.ndarray  # [column] float32, see above
    moments: np.ndarray  # [what, column] of marked numbers, see `giro.standardising`
    seen: np.ndarray  # [2] rows, and the sum of their squared entries
    rate: float
    offset: float  # what is expected where nothing was learned


class Collisions(NamedTuple):
    """How full a table of hashed features is."""

    columns: int
    used: int  # columns with something learned
    features: int  # different ones, products included, that fill as many: an estimate
    share: float  # of features that share their column with another: an estimate


def collisions(squares: np.ndarray) -> Collisions:
    """Return how full a table is, from its `squares`.

    n features thrown into C columns leave C exp(-n / C) of them empty.
    """
    columns, used = squares.size, int(np.count_nonzero(squares))
    left = max(columns - used, 0.5)
    features = columns * math.log(columns / left)
    return Collisions(columns, used, round(features), 1.0 - math.exp(-features / columns))


class Rows(NamedTuple):
    """Columns and entries: first what all arms share, and then, arm by arm, what they do not."""

    begin: np.ndarray  # [arm + 2] where the shared part begins, and then the part of each arm
    column: np.ndarray  # [j]
    value: np.ndarray  # [j] float32


def empty_table(bits: int, replicas: int, rate: float, offset: float) -> Table:
    """Return a table of 2^bits columns in which all weights are zero."""
    return Table(
        np.zeros((1 << bits, FIRST + replicas), np.float32),
        np.zeros(1 << bits, np.float32),
        no_moments(np.ones(1 << bits, np.bool_)),
        np.zeros(2),
        float(rate),
        float(offset),
    )


@inline_kernel
def scales_of(table: Table) -> Scales:
    """Return how large the values of columns are."""
    return Scales(table.weights[:, LARGEST], table.moments)


@inline_kernel
def rows_of(table: Table, round: Entries, arms: Entries) -> Rows:
    """Return the rows of arms in one round."""
    last, n, n_arms = table.squares.size - 1, round.begin[1], arms.begin.size - 1
    size = 1 + n + arms.begin[n_arms] * (1 + n)
    whole, value = np.empty(n_arms + 2 + size, np.int64), np.empty(size, np.float32)
    begin, column = whole[: n_arms + 2], whole[n_arms + 2 :]
    begin[0], column[0], value[0], j = 0, OF_CONSTANT & last, 1.0, 1
    for c in range(n):
        column[j], value[j] = round.key[c] & last, round.value[c]
        j += 1
    for i in range(n_arms):
        begin[i + 1] = j
        for a in range(arms.begin[i], arms.begin[i + 1]):
            key, code, its = arms.key[a], arms.code[a], arms.value[a]
            column[j], value[j] = key & last, its
            j += 1
            has_none = code < 2 * KEYS  # of the bits that restrict products
            for c in range(n):
                if has_none or is_crossed(round.code[c], code):
                    column[j] = product_key(round.key[c], key) & last
                    value[j] = round.value[c] * its
                    j += 1
    begin[n_arms + 1] = j
    return Rows(begin, column[:j], value[:j])


@inline_kernel
def _sums(table: Table, rows: Rows, part: int, place: int) -> tuple[float, float]:
    """Return sums of a part's entries times the mean weights, and times those at a place."""
    mean, own = 0.0, 0.0
    for j in range(rows.begin[part], rows.begin[part + 1]):
        value, column = np.float64(rows.value[j]), rows.column[j]
        mean += value * np.float64(table.weights[column, MEAN])
        own += value * np.float64(table.weights[column, place])
    return mean, own


@inline_kernel
def expected_by_replica(table: Table, rows: Rows, replica: int, spread: float) -> np.ndarray:
    """Return what a replica expects of each arm, with a share of its distance from the mean.

    With `spread` 1 that is its own value; the mean alone decides with 0.
    """
    values = np.empty(rows.begin.size - 2)
    shared_mean, shared = _sums(table, rows, 0, FIRST + replica)
    for i in range(values.size):
        mean, own = _sums(table, rows, i + 1, FIRST + replica)
        mean, own = mean + shared_mean, own + shared
        values[i] = table.offset + mean + spread * (own - mean)
    return values


@kernel
def take_in(table: Table, rows: Rows, reward: float, counts: np.ndarray) -> None:
    """Let each replica take in the only row, counts[replica] times: its reward, a 1, and a 0."""
    replicas, columns = counts.shape[0], rows.column
    errors = _errors(table, rows, reward, counts)
    energy = 0.0
    for replica in range(replicas):
        energy += _times(counts, replica) * errors[replica] * errors[replica]
    if energy == 0.0:
        return
    rates, q = _rates(table, columns, rows.value, energy / replicas)
    move, mean = np.empty(replicas, np.float32), 0.0
    for replica in range(replicas):
        share = -math.expm1(-2.0 * table.rate * _times(counts, replica) * q) / q
        move[replica] = errors[replica] * share
        mean += np.float64(move[replica])
    average = np.float32(mean / replicas)
    for j in range(columns.size):
        table.weights[columns[j], MEAN] += rates[j] * average
        for replica in range(replicas):
            table.weights[columns[j], FIRST + replica] += rates[j] * move[replica]


@inline_kernel
def _times(counts: np.ndarray, replica: int) -> int:
    return int(counts[replica, REAL] + counts[replica, ONE] + counts[replica, ZERO])


@inline_kernel
def _errors(table: Table, rows: Rows, reward: float, counts: np.ndarray) -> np.ndarray:
    """Return how much more each replica is to expect; 0 if it does not take in the row."""
    errors = np.full(counts.shape[0], -table.offset)
    for j in range(rows.column.size):
        value, column = np.float64(rows.value[j]), rows.column[j]
        for replica in range(errors.size):
            errors[replica] -= value * np.float64(table.weights[column, FIRST + replica])
    for replica in range(errors.size):
        times = _times(counts, replica)
        target = counts[replica, REAL] * reward + counts[replica, ONE]
        errors[replica] = errors[replica] + target / times if times > 0 else 0.0
    return errors


@kernel
def _rates(
    table: Table, columns: np.ndarray, values: np.ndarray, energy: float
) -> tuple[np.ndarray, float]:
    """Count the row; return v_j z_j of each entry, float32, and Σ v_j z_j²."""
    rates, q, length = np.empty(columns.size, np.float32), 0.0, 0.0
    for j in range(columns.size):
        square = np.float64(values[j]) * np.float64(values[j])
        table.squares[columns[j]] = np.float64(table.squares[columns[j]]) + energy * square
        length += square
    table.seen[0] += 1.0
    table.seen[1] += length
    norm = math.sqrt(table.seen[0] / table.seen[1])
    for j in range(columns.size):
        z = np.float64(values[j])
        rate = norm * z / math.sqrt(np.float64(table.squares[columns[j]])) if z != 0.0 else 0.0
        q += rate * z
        rates[j] = rate
    return rates, q
