"""Contexts and rewards of every arm, as numbers and as changes from the most common values.

One-hot contexts are mostly zeros, and after standardising mostly some other number: such a column
of Covertype has only two values. So each column has a *base*, its most common value, and a row is
kept both in full and as the few entries that differ from the base, x = base + δ. Columns that
differ in most rows, such as measured quantities, are *dense*. The others are sparse. Sums over rows
then cost as much as the changes, and are exactly the sums over full rows: over the sparse columns

    Σ w x x' = W base base' + base c' + c base' + Σ w δ δ'   with  W = Σ w,  c = Σ w δ,

between a dense column with values n and the sparse ones Σ w n x' = (Σ w n) base' + Σ w n δ'.

Models that only look back now and then need not keep every row: `keep_row` keeps the newest row of
an arm and a uniform sample of those before it (Vitter 1985, Algorithm R).
"""

from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.draws.uniform import integer_below
from giro.kernels.giro.history import History, append, empty_history, rewards_of
from giro.kernels.regression.linear_algebra import add_multiple, assign

_FIRST_ENCODING = 8  # rows before the first search for the most common values
_LAST_ENCODING = 4096  # and at the last one, as each goes through all rows
_DENSE = 0.5  # a column is dense if at least this share of rows differs from the base


class Rows(NamedTuple):
    """Observations. `positions_of(rows, i)` are the numbers of arm i's rows.

    A row's changes in sparse columns are at first[row], ..., middle[row] - 1. If rows are `spaced`,
    each has room for a change in every column, so that another row can take its place.
    """

    contexts: np.ndarray  # [row, feature]
    rewards: np.ndarray  # [row]
    of_arm: History  # row numbers of each arm
    base: np.ndarray  # [feature] the most common value
    first: np.ndarray  # [row] where the row's changes begin
    middle: np.ndarray  # [row] where they end
    column: np.ndarray  # [change]
    change: np.ndarray  # [change] context minus base
    packed: np.ndarray  # [row * k + i] the row's entries in the k dense columns
    dense: np.ndarray  # [i] dense columns, ascending
    is_dense: np.ndarray  # [feature]
    filled: np.ndarray  # [3] rows so far, dense columns, entries that differ from the base
    spaced: bool

    def trimmed(self) -> "Rows":
        """Return the part in use, at least one row."""
        n = max(int(self.filled[0]), 1)
        is_dense = self.filled[1] == self.base.size  # without a sparse column there are no changes
        changes = 0 if is_dense else int(self.first[self.filled[0]])
        return self._replace(
            contexts=self.contexts[:n],
            rewards=self.rewards[:n],
            first=self.first[: n + 1],
            middle=self.middle[:n],
            column=self.column[:changes],
            change=self.change[:changes],
            packed=self.packed[: n * int(self.filled[1])],
        )

    def widened(self, old: "Rows") -> None:
        """Move the changes of spaced rows to where wider rows have theirs."""
        if not self.spaced:
            return
        n, before, now = int(self.filled[0]), old.base.size, self.base.size
        for ours, theirs in ((self.column, old.column), (self.change, old.change)):
            ours[: n * now] = 0
            ours[: n * now].reshape(n, now)[:, :before] = theirs[: n * before].reshape(n, before)
        self.middle[:n] += np.arange(n) * (now - before)
        self.first[: n + 1] = np.arange(n + 1) * now


def empty_rows(n_arms: int, n_features: int, capacity: int, *, spaced: bool = False) -> Rows:
    """Return empty rows with room for `capacity`. Memory is used as it fills."""
    changes = np.zeros if spaced else np.empty
    return Rows(
        np.zeros((capacity, n_features)),  # a column that comes later was 0 until then
        np.empty(capacity),
        empty_history(n_arms, capacity, np.int64),
        np.zeros(n_features),
        np.zeros(capacity + 1, np.int64),
        np.zeros(capacity, np.int64),
        changes(capacity * n_features, np.int32),
        changes(capacity * n_features),
        np.empty(capacity * n_features),
        np.zeros(n_features, np.int64),
        np.zeros(n_features, np.bool_),
        np.zeros(3, np.int64),
        spaced,
    )


@kernel
def append_row(rows: Rows, context: np.ndarray, arm: int, reward: float) -> None:
    """Add the observation of one round. At 8, 16, 32, ... 4096 rows, find better bases."""
    row = rows.filled[0]
    rows.filled[0] = row + 1
    append(rows.of_arm, arm, row)
    _write(rows, row, context, reward)
    if _FIRST_ENCODING <= row + 1 <= _LAST_ENCODING and (row & (row + 1)) == 0:
        _find_bases(rows)
        _find_dense(rows)
        rows.filled[2] = 0
        for encoded in range(row + 1):
            _encode(rows, encoded)


@kernel
def keep_row(
    rows: Rows,
    context: np.ndarray,
    arm: int,
    reward: float,
    seen: int,
    most: int,
    rng: np.random.Generator,
) -> None:
    """Add an arm's row number `seen`, from 1, and keep at most `most` of its rows.

    The last of its positions is the newest row. The others are a uniform sample of those before.
    """
    positions = positions_of(rows, arm)
    if positions.size < most:
        append_row(rows, context, arm, reward)
        return
    last, place = most - 1, integer_below(seen - 1, rng)
    if place < last:  # the row before this one takes the place of another
        positions[place], positions[last] = positions[last], positions[place]
    _write(rows, positions[last], context, reward)


@kernel
def keep_newest(rows: Rows, context: np.ndarray, arm: int, reward: float, most: int) -> int:
    """Add an arm's row, in the place of its oldest one if it has `most`, and return its number."""
    positions = positions_of(rows, arm)
    if positions.size < most:
        append_row(rows, context, arm, reward)
        return int(rows.filled[0] - 1)
    row = positions[0]
    for i in range(most - 1):
        positions[i] = positions[i + 1]
    positions[most - 1] = row
    _write(rows, row, context, reward)
    return int(row)


@kernel
def _write(rows: Rows, row: int, context: np.ndarray, reward: float) -> None:
    assign(rows.contexts[row], context)
    rows.rewards[row] = reward
    _encode(rows, row)


@kernel
def positions_of(rows: Rows, arm: int) -> np.ndarray:
    """Return the numbers of the arm's rows, oldest first."""
    return rewards_of(rows.of_arm, arm)


@kernel
def set_only_row(rows: Rows, context: np.ndarray, reward: float) -> None:
    """Make an observation the only row, number 0, for models that need no other."""
    assign(rows.contexts[0], context)
    rows.rewards[0] = reward


@kernel
def _encode(rows: Rows, row: int) -> None:
    """Write the row's dense entries, and its changes behind those of the rows before it."""
    end, k = _write_changes(rows, row), rows.filled[1]
    rows.middle[row] = end
    rows.first[row + 1] = (row + 1) * rows.base.size if rows.spaced else end
    for i in range(k):
        rows.packed[row * k + i] = rows.contexts[row, rows.dense[i]]


@kernel
def _write_changes(rows: Rows, row: int) -> int:
    """Write the changes in the sparse columns, and return where they end."""
    end = rows.first[row]
    for j in range(rows.base.size):
        value = rows.contexts[row, j]
        if value != rows.base[j]:
            rows.filled[2] += 1
            if not rows.is_dense[j]:
                rows.column[end] = j
                rows.change[end] = value - rows.base[j]
                end += 1
    return int(end)


@kernel
def _find_bases(rows: Rows) -> None:
    """Set each base to the value that most rows have. Without such a value any base is valid.

    This is Boyer and Moore's vote: a value gains a vote when it occurs, loses one when another
    does, and is replaced when it has none left.
    """
    votes = np.zeros(rows.base.size, np.int64)
    for row in range(rows.filled[0]):
        for j in range(votes.size):
            value = rows.contexts[row, j]
            if votes[j] == 0:
                rows.base[j] = value
            votes[j] += 1 if value == rows.base[j] else -1


@kernel
def _find_dense(rows: Rows) -> None:
    """Find the dense columns."""
    changes = np.zeros(rows.base.size, np.int64)
    for row in range(rows.filled[0]):
        for j in range(changes.size):
            changes[j] += rows.contexts[row, j] != rows.base[j]
    rows.filled[1] = 0
    for j in range(changes.size):
        rows.is_dense[j] = changes[j] > _DENSE * rows.filled[0]
        if rows.is_dense[j]:
            rows.dense[rows.filled[1]] = j
            rows.filled[1] += 1


@kernel
def is_sparse(rows: Rows) -> bool:
    """Return whether most entries of the rows equal the base."""
    return bool(rows.filled[2] < 0.5 * rows.filled[0] * rows.base.size)


@kernel
def scores(rows: Rows, positions: np.ndarray, theta: np.ndarray, out: np.ndarray) -> None:
    """Set out[i] to x'θ for the i-th of these rows."""
    k, level = rows.filled[1], 0.0
    inner = np.empty(k)
    for i in range(k):
        inner[i] = theta[rows.dense[i]]
    for j in range(theta.size):
        level += 0.0 if rows.is_dense[j] else rows.base[j] * theta[j]
    for i in range(positions.size):
        row = positions[i]
        total = level
        for m in range(k):
            total += rows.packed[row * k + m] * inner[m]
        for p in range(rows.first[row], rows.middle[row]):
            total += rows.change[p] * theta[rows.column[p]]
        out[i] = total


@kernel
def weighted_sum(rows: Rows, positions: np.ndarray, weight: np.ndarray, out: np.ndarray) -> None:
    """Set `out` to Σ w x over these rows."""
    k, total = rows.filled[1], 0.0
    inner = np.zeros(k)
    out[:] = 0.0
    for i in range(positions.size):
        row, w = positions[i], weight[i]
        total += w
        for m in range(k):
            inner[m] += w * rows.packed[row * k + m]
        for p in range(rows.first[row], rows.middle[row]):
            out[rows.column[p]] += w * rows.change[p]
    for j in range(out.size):
        out[j] += total * rows.base[j]
    for i in range(k):
        out[rows.dense[i]] = inner[i]


@kernel
def weighted_gram(rows: Rows, positions: np.ndarray, weight: np.ndarray, out: np.ndarray) -> None:
    """Set the upper triangle of `out` to that of Σ w x x' over these rows."""
    d, k = rows.base.size, rows.filled[1]
    out[:] = 0.0
    inner, between = np.zeros((k, k)), np.zeros((d, k))
    _gram_of_dense(rows.packed, positions, weight, inner)
    if k < d:
        _gram_of_changes(rows, positions, weight, between, out)
    for i in range(k):
        j = rows.dense[i]
        for m in range(i, k):
            out[j, rows.dense[m]] = inner[i, m]
        for other in range(d):
            if not rows.is_dense[other]:
                out[min(j, other), max(j, other)] = between[other, i]


@kernel
def _gram_of_changes(
    rows: Rows, positions: np.ndarray, weight: np.ndarray, between: np.ndarray, out: np.ndarray
) -> None:
    """Add the sums over sparse columns to `out`, and set `between` to Σ w x n' for them."""
    column, change, packed, k = rows.column, rows.change, rows.packed, rows.filled[1]
    c, sums = np.zeros(rows.base.size), np.zeros(k)
    total = 0.0
    for i in range(positions.size):
        w, row = weight[i], positions[i]
        if w == 0.0:
            continue
        total += w
        end = rows.middle[row]
        for m in range(k):
            sums[m] += w * packed[row * k + m]
        for p in range(rows.first[row], end):
            j, scaled = column[p], w * change[p]
            c[j] += scaled
            for m in range(k):
                between[j, m] += scaled * packed[row * k + m]
            for q in range(p, end):
                out[j, column[q]] += scaled * change[q]
    base = _sparse_base(rows)
    for j in range(base.size):  # W base base' + base c' + c base'
        left = total * base[j] + c[j]
        for other in range(j, base.size):
            out[j, other] += left * base[other] + base[j] * c[other]
        add_multiple(between[j], rows.base[j], sums)


@kernel
def _sparse_base(rows: Rows) -> np.ndarray:
    """Return the base of each column, 0 for dense ones."""
    base = rows.base.copy()
    for j in range(base.size):
        if rows.is_dense[j]:
            base[j] = 0.0
    return base


@kernel
def _gram_of_dense(
    packed: np.ndarray, positions: np.ndarray, weight: np.ndarray, out: np.ndarray
) -> None:
    """Add four rows at a time, so that each entry of `out` is accessed a quarter as often."""
    d, n = out.shape[0], positions.size
    for i in range(0, n - n % 4, 4):
        x, y = _entries(packed, d, positions[i]), _entries(packed, d, positions[i + 1])
        u, v = _entries(packed, d, positions[i + 2]), _entries(packed, d, positions[i + 3])
        for j in range(d):
            row = out[j]
            xj, yj = weight[i] * x[j], weight[i + 1] * y[j]
            uj, vj = weight[i + 2] * u[j], weight[i + 3] * v[j]
            for k in range(j, d):
                row[k] += xj * x[k] + yj * y[k] + uj * u[k] + vj * v[k]
    for i in range(n - n % 4, n):
        x = _entries(packed, d, positions[i])
        for j in range(d):
            add_multiple(out[j, j:], weight[i] * x[j], x[j:])


@kernel
def _entries(packed: np.ndarray, k: int, row: int) -> np.ndarray:
    """Return the row's entries in the k dense columns."""
    return packed[row * k : (row + 1) * k]
