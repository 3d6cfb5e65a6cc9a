"""A linear model of hashed features, fitted row by row, in any number of replicas.

A row holds a constant, the features of the round, those of the arm, and products of the two, each
with a key (`giro.hashing`) whose lowest bits are its column. Features come as arrays or as sparse
rows, or there are none but the arm itself. *Entries* are their keys and values, whatever the form.
Values are scaled on the way. A number that is marked as such (`giro.hashing`) is standardised by
its mean and spread. Any other value is divided by the largest of its column so far, which does not
change words, whose value is 1. Both scales follow from the rows that were learned.

The prediction of replica r is `offset` + Σ z_j W[column_j, r]. The replicas of a column are
neighbours in memory, with their mean and the scale of the column, so that a feature costs a cache
line or two and not one for each replica. Weights are single precision, sums are double.

If replica r uses a row m_r times, with the mean reward y_r, its weights move by

    (y_r - p_r) (1 - exp(-2 rate m_r q)) / q v_j z_j    with  q = Σ v_j z_j²,

which never overshoots y_r and is the limit of m_r steps cut into ever smaller ones (Karampatziakis
and Langford, 2011). v_j = (n / N)^(1/2) / G_j^(1/2), where G_j sums z_j² times the squared errors
so far (AdaGrad; Duchi, Hazan and Singer, 2011), averaged over replicas, and N is the sum of z_j²
over the n rows so far (Ross, Mineiro and Langford, 2013).

With a half-life, rows fade in G_j, N and n, so that steps stay as long as recent rewards alone
would make them. A row is added with what it is worth beside the first one, which grows without
end, instead of fading all columns with each row.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from giro.compiling import bind, dispatched, inline_kernel, kernel
from giro.hashing import (
    IS_NUMBER,
    KEYS,
    OF_ARM,
    OF_CONSTANT,
    OF_ROUND,
    is_crossed,
    key_of,
    product_key,
)
from giro.kernels.giro.pseudo_rewards import ONE, REAL, ZERO
from giro.kernels.memory import left_since, now
from giro.kernels.regression.linear_algebra import assign
from giro.offer import SparseRow, SparseRows
from giro.standardising import count, distance, no_moments

_FASTEST = 4.0  # largest growth of a scale by one value, which may be in a wrong unit
_MOST_WORTH, _LEAST_LEFT = 1e15, 1e-30  # all sums are divided in time: they are single precision
LARGEST, MEAN, FIRST = 0, 1, 2  # places in a column: its scale, the mean of replicas, replica 0


class Scales(NamedTuple):
    """The scales of the values of columns."""

    largest: np.ndarray  # [column] float32
    moments: np.ndarray  # [what, column] of marked numbers, see `giro.standardising`


class Entries(NamedTuple):
    """Nonzero features: row i has those from begin[i] up to begin[i + 1]."""

    begin: np.ndarray  # [row + 1]
    key: np.ndarray  # [j] see `giro.hashing`
    code: np.ndarray  # [j] likewise
    value: np.ndarray  # [j] float32


@inline_kernel
def _empty_entries(rows: int, n: int) -> Entries:
    block = np.empty(rows + 1 + 2 * n, np.int64)  # one allocation, because each takes time
    block[0], last = 0, rows + 1 + n
    return Entries(block[: rows + 1], block[rows + 1 : last], block[last:], np.empty(n, np.float32))


@inline_kernel
def _put(
    entries: Entries, j: int, code: int, value: float, side: int, scales: Scales, learned: bool
) -> None:
    key = key_of(code, side)
    entries.key[j], entries.code[j] = key, code
    column = key & (scales.largest.size - 1)
    if code & IS_NUMBER:
        if learned:
            count(scales.moments, column, value)
        entries.value[j] = distance(scales.moments, column, value)
        return
    largest: float = np.float64(scales.largest[column])
    size = abs(value)
    if learned and size > largest:
        largest = size if largest == 0.0 else min(size, _FASTEST * largest)
        scales.largest[column] = largest
    if size >= largest:
        entries.value[j] = 1.0 if value > 0.0 else -1.0
    else:
        entries.value[j] = value / largest


@dispatched
def round_entries(context: Any, scales: Scales, learned: bool) -> Entries:
    """Return the features of a round as one row. If it is `learned`, update the scales first."""
    raise TypeError("replaced by dispatch")


@dispatched
def arm_entries(features: Any, arms: np.ndarray, scales: Scales) -> Entries:
    """Return the features of each of these arms, or their numbers if they have none."""
    raise TypeError("replaced by dispatch")


@dispatched
def case_entries(features: Any, arm: int, scales: Scales) -> Entries:
    """Return the features of an arm that is learned as one row, or its number if it has none."""
    raise TypeError("replaced by dispatch")


@inline_kernel
def _dense_row(row: np.ndarray, side: int, scales: Scales, learned: bool) -> Entries:
    entries, n = _empty_entries(1, row.size), 0
    for j in range(row.size):
        if row[j] != 0.0:
            _put(entries, n, j, row[j], side, scales, learned)
            n += 1
    entries.begin[1] = n
    return entries


@inline_kernel
def _sparse_row(row: SparseRow, side: int, scales: Scales, learned: bool) -> Entries:
    entries = _empty_entries(1, row.column.size)
    for j in range(row.column.size):
        _put(entries, j, row.column[j], row.value[j], side, scales, learned)
    entries.begin[1] = row.column.size
    return entries


def _dense_round(context: np.ndarray, scales: Scales, learned: bool) -> Entries:
    return _dense_row(context, OF_ROUND, scales, learned)


def _sparse_round(context: SparseRow, scales: Scales, learned: bool) -> Entries:
    return _sparse_row(context, OF_ROUND, scales, learned)


@inline_kernel
def _only_arms(arms: np.ndarray, scales: Scales) -> Entries:
    entries = _empty_entries(arms.size, arms.size)
    for i in range(arms.size):
        _put(entries, i, arms[i], 1.0, OF_ARM, scales, False)
        entries.begin[i + 1] = i + 1
    return entries


@inline_kernel
def _dense_arms(features: np.ndarray, arms: np.ndarray, scales: Scales) -> Entries:
    if features.shape[0] == 0:
        return _only_arms(arms, scales)
    entries, n = _empty_entries(features.shape[0], features.size), 0
    for i in range(features.shape[0]):
        for j in range(features.shape[1]):
            if features[i, j] != 0.0:
                _put(entries, n, j, features[i, j], OF_ARM, scales, False)
                n += 1
        entries.begin[i + 1] = n
    return entries


@inline_kernel
def _sparse_arms(features: SparseRows, arms: np.ndarray, scales: Scales) -> Entries:
    entries = _empty_entries(arms.size, features.begin[arms.size])
    for j in range(entries.key.size):
        _put(entries, j, features.column[j], features.value[j], OF_ARM, scales, False)
    assign(entries.begin, features.begin)
    return entries


@inline_kernel
def _dense_case(features: np.ndarray, arm: int, scales: Scales) -> Entries:
    if features.size == 0:
        return _only_arms(np.full(1, arm), scales)
    return _dense_row(features, OF_ARM, scales, True)


def _sparse_case(features: SparseRow, arm: int, scales: Scales) -> Entries:
    return _sparse_row(features, OF_ARM, scales, True)


bind(round_entries, np.ndarray, _dense_round)
bind(round_entries, SparseRow, _sparse_round)
bind(arm_entries, np.ndarray, _dense_arms)
bind(arm_entries, SparseRows, _sparse_arms)
bind(case_entries, np.ndarray, _dense_case)
bind(case_entries, SparseRow, _sparse_case)


class Table(NamedTuple):
    """Weights of all columns."""

    weights: np.ndarray  # [column, place] float32: scale, mean, and one for each replica
    squares: np.ndarray  # [column] float32, see above
    moments: np.ndarray  # [what, column] of marked numbers, see `giro.standardising`
    seen: np.ndarray  # [2] number of rows, sum of their squared entries
    worth: np.ndarray  # [2] what a row counts now in all these sums, the time since it does
    rate: float
    offset: float  # prediction before anything was learned


class Collisions(NamedTuple):
    """The load of a table of hashed features."""

    columns: int
    used: int  # columns that have learned something
    features: int  # estimated number of different features, including products
    share: float  # estimated share of features that share their column with another


def collisions(squares: np.ndarray) -> Collisions:
    """Estimate the collisions in a table from its `squares`.

    If n features fall into C columns at random, about C exp(-n / C) columns stay empty.
    """
    columns, used = squares.size, int(np.count_nonzero(squares))
    left = max(columns - used, 0.5)
    features = columns * math.log(columns / left)
    return Collisions(columns, used, round(features), 1.0 - math.exp(-features / columns))


class TableRows(NamedTuple):
    """Columns and entries: first those that all arms share, then those of each arm."""

    begin: np.ndarray  # [arm + 2] where the shared part begins, and then the part of each arm
    column: np.ndarray  # [j]
    value: np.ndarray  # [j] float32


def empty_table(bits: int, replicas: int, rate: float, offset: float) -> Table:
    """Return a table of 2^bits columns with all weights zero."""
    return Table(
        np.zeros((1 << bits, FIRST + replicas), np.float32),
        np.zeros(1 << bits, np.float32),
        no_moments(np.ones(1 << bits, np.bool_)),
        np.zeros(2),
        np.array([1.0, 0.0]),
        float(rate),
        float(offset),
    )


@inline_kernel
def scales_of(table: Table) -> Scales:
    """Return the scales of the values of columns."""
    return Scales(table.weights[:, LARGEST], table.moments)


@inline_kernel
def table_rows(table: Table, round: Entries, arms: Entries) -> TableRows:
    """Return the rows of arms in one round."""
    last, n, n_arms = table.squares.size - 1, round.begin[1], arms.begin.size - 1
    size = 1 + n + arms.begin[n_arms] * (1 + n)
    block, value = np.empty(n_arms + 2 + size, np.int64), np.empty(size, np.float32)
    begin, column = block[: n_arms + 2], block[n_arms + 2 :]
    begin[0], column[0], value[0], j = 0, OF_CONSTANT & last, 1.0, 1
    for c in range(n):
        column[j], value[j] = round.key[c] & last, round.value[c]
        j += 1
    for i in range(n_arms):
        begin[i + 1] = j
        for a in range(arms.begin[i], arms.begin[i + 1]):
            key, code, entry = arms.key[a], arms.code[a], arms.value[a]
            column[j], value[j] = key & last, entry
            j += 1
            has_none = code < 2 * KEYS  # of the bits that restrict products
            for c in range(n):
                if has_none or is_crossed(round.code[c], code):
                    column[j] = product_key(round.key[c], key) & last
                    value[j] = round.value[c] * entry
                    j += 1
    begin[n_arms + 1] = j
    return TableRows(begin, column[:j], value[:j])


@inline_kernel
def _sums(table: Table, rows: TableRows, part: int, place: int) -> tuple[float, float]:
    """Return the sums of a part's entries times the mean weights, and times those at a place."""
    mean, own = 0.0, 0.0
    for j in range(rows.begin[part], rows.begin[part + 1]):
        value, column = np.float64(rows.value[j]), rows.column[j]
        mean += value * np.float64(table.weights[column, MEAN])
        own += value * np.float64(table.weights[column, place])
    return mean, own


@inline_kernel
def expected_by_replica(table: Table, rows: TableRows, replica: int, spread: float) -> np.ndarray:
    """Return a replica's prediction for each arm, moved towards the mean of all replicas.

    `spread` multiplies the distance from the mean: 1 gives the replica's own prediction, 0 the
    mean.
    """
    values = np.empty(rows.begin.size - 2)
    shared_mean, shared = _sums(table, rows, 0, FIRST + replica)
    for i in range(values.size):
        mean, own = _sums(table, rows, i + 1, FIRST + replica)
        mean, own = mean + shared_mean, own + shared
        values[i] = table.offset + mean + spread * (own - mean)
    return values


@kernel
def pass_time(table: Table, seen: np.ndarray, memory: Any) -> None:
    """Raise the worth of a row by the rewards that came since the last one."""
    left = left_since(memory, int(table.worth[1]))
    if left == 1.0:
        return
    table.worth[0] /= max(left, _LEAST_LEFT)
    table.worth[1] = now(memory)
    if table.worth[0] > _MOST_WORTH:
        for column in range(table.squares.size):
            table.squares[column] = np.float64(table.squares[column]) / table.worth[0]
        seen /= table.worth[0]
        table.worth[0] = 1.0


@kernel
def update_table(table: Table, rows: TableRows, reward: float, counts: np.ndarray) -> None:
    """Update each replica with the only row, counts[replica] times: its reward, a 1, and a 0."""
    replicas, columns = counts.shape[0], rows.column
    errors = _errors(table, rows, reward, counts)
    energy = 0.0
    for replica in range(replicas):
        energy += _times(counts, replica) * errors[replica] * errors[replica]
    if energy == 0.0:
        return
    rates, q = _rates(table, columns, rows.value, table.worth[0] * energy / replicas)
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
def _times(counts: np.ndarray, replica: int) -> float:
    return float(counts[replica, REAL] + counts[replica, ONE] + counts[replica, ZERO])


@inline_kernel
def _errors(table: Table, rows: TableRows, reward: float, counts: np.ndarray) -> np.ndarray:
    """Return the error of each replica's prediction, 0 if it does not use the row."""
    errors = np.full(counts.shape[0], -table.offset)
    for j in range(rows.column.size):
        value, column = np.float64(rows.value[j]), rows.column[j]
        for replica in range(errors.size):
            errors[replica] -= value * np.float64(table.weights[column, FIRST + replica])
    for replica in range(errors.size):
        times = _times(counts, replica)
        target = counts[replica, REAL] * reward + counts[replica, ONE]
        errors[replica] = errors[replica] + target / times if times > 0.0 else 0.0
    return errors


@kernel
def _rates(
    table: Table, columns: np.ndarray, values: np.ndarray, energy: float
) -> tuple[np.ndarray, float]:
    """Count the row, and return v_j z_j of each entry, float32, and Σ v_j z_j²."""
    rates, q, length = np.empty(columns.size, np.float32), 0.0, 0.0
    for j in range(columns.size):
        square = np.float64(values[j]) * np.float64(values[j])
        table.squares[columns[j]] = np.float64(table.squares[columns[j]]) + energy * square
        length += square
    table.seen[0] += table.worth[0]
    table.seen[1] += table.worth[0] * length
    norm = math.sqrt(table.worth[0] * table.seen[0] / table.seen[1])
    for j in range(columns.size):
        z = np.float64(values[j])
        rate = norm * z / math.sqrt(np.float64(table.squares[columns[j]])) if z != 0.0 else 0.0
        q += rate * z
        rates[j] = rate
    return rates, q
