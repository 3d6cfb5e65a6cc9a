"""Rows as keys and values, whatever form they have: arrays, sparse rows, or nothing but an arm.

Values are made comparable on the way. A number that is marked as such (`giro.hashing`) is taken
less its mean and over its spread; any other is taken over the largest of its column so far, which
leaves words, whose value is 1, as they are. Both follow from the rows that were learned.
"""

from typing import Any, NamedTuple

import numpy as np

from giro.compiling import bind, dispatched, inline_kernel
from giro.hashing import IS_NUMBER, OF_ARM, OF_ROUND, key_of
from giro.kernels.regression.linear_algebra import assign
from giro.offer import SparseRow, SparseRows
from giro.standardising import count, distance

_FASTEST = 4.0  # growth of a scale by one value, which may be a slip of a unit


class Scales(NamedTuple):
    """How large the values of columns are."""

    largest: np.ndarray  # [column] float32
    moments: np.ndarray  # [what, column] of marked numbers, see `giro.standardising`


class Entries(NamedTuple):
    """Features that are not zero: row i has those from begin[i] up to begin[i + 1]."""

    begin: np.ndarray  # [row + 1]
    key: np.ndarray  # [j] see `giro.hashing`
    code: np.ndarray  # [j] likewise
    value: np.ndarray  # [j] float32


@inline_kernel
def _room(rows: int, n: int) -> Entries:
    whole = np.empty(rows + 1 + 2 * n, np.int64)  # one piece of memory, because asking takes time
    whole[0], last = 0, rows + 1 + n
    return Entries(whole[: rows + 1], whole[rows + 1 : last], whole[last:], np.empty(n, np.float32))


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
    """Return what is known of a round, one row; if it is `learned`, scales follow before."""
    raise TypeError("replaced by dispatch")


@dispatched
def arm_entries(features: Any, arms: np.ndarray, scales: Scales) -> Entries:
    """Return what is known of each of these arms; their own numbers if that is nothing."""
    raise TypeError("replaced by dispatch")


@dispatched
def case_entries(features: Any, arm: int, scales: Scales) -> Entries:
    """Return what was known of one arm that is learned, one row; its number if that is nothing."""
    raise TypeError("replaced by dispatch")


@inline_kernel
def _dense_row(row: np.ndarray, side: int, scales: Scales, learned: bool) -> Entries:
    entries, n = _room(1, row.size), 0
    for j in range(row.size):
        if row[j] != 0.0:
            _put(entries, n, j, row[j], side, scales, learned)
            n += 1
    entries.begin[1] = n
    return entries


@inline_kernel
def _sparse_row(row: SparseRow, side: int, scales: Scales, learned: bool) -> Entries:
    entries = _room(1, row.column.size)
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
    entries = _room(arms.size, arms.size)
    for i in range(arms.size):
        _put(entries, i, arms[i], 1.0, OF_ARM, scales, False)
        entries.begin[i + 1] = i + 1
    return entries


@inline_kernel
def _dense_arms(features: np.ndarray, arms: np.ndarray, scales: Scales) -> Entries:
    if features.shape[0] == 0:
        return _only_arms(arms, scales)
    entries, n = _room(features.shape[0], features.size), 0
    for i in range(features.shape[0]):
        for j in range(features.shape[1]):
            if features[i, j] != 0.0:
                _put(entries, n, j, features[i, j], OF_ARM, scales, False)
                n += 1
        entries.begin[i + 1] = n
    return entries


@inline_kernel
def _sparse_arms(features: SparseRows, arms: np.ndarray, scales: Scales) -> Entries:
    entries = _room(arms.size, features.begin[arms.size])
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
