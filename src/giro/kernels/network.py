"""A network with one hidden layer, trained by stochastic gradient descent.

Hidden units max(W'x, 0), output 1 / (1 + exp(-(v'h + b))), and the binary cross-entropy, whose
gradient by the output's score is the *error*: output minus target. The gradient is the mean over a
*batch* of entries. In the sparse columns x = base + δ (see `regression.rows`), and with the errors
E of the hidden units

    W'x = W'base + W'δ    and    Σ x E' = base Σ E' + Σ δ E'

so that there an entry costs as much as its changes, and the cost of the base does not grow with the
number of entries. Dense columns are processed directly. Units are kept in `LANES`, of which the
last may be idle: with weights of zero they are never active, and stay at zero.

Training makes passes over a bootstrap sample in random order, each with every entry once. With Adam
(Kingma and Ba, 2015) each weight has its own rate.
"""

import math
from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.compiling.lanes import (
    LANES,
    fetch,
    inner_product,
    lanes_at,
    plus,
    put,
    where_positive,
    within,
    zeros,
)
from giro.kernels.draws.uniform import shuffle, uniforms
from giro.kernels.giro.pseudo_rewards import ONE, ZERO
from giro.kernels.regression.rows import Rows

LARGEST = 1e50  # bound of the weights: far from any fit, and no product overflows
_FARTHEST = 500.0  # largest score: beyond it the output is 0 or 1, and exp would overflow
_LINE = 8  # numbers in a line of memory


class NetworkWeights(NamedTuple):
    """Weights of one network, with unit k of feature j at j · width + k."""

    hidden: np.ndarray  # [feature · unit] W
    output: np.ndarray  # [unit] v
    bias: np.ndarray  # [1] b of the output


@kernel
def network_at(weights: NetworkWeights, number: int) -> NetworkWeights:
    """Return the weights of one of several networks."""
    return NetworkWeights(weights.hidden[number], weights.output[number], weights.bias[number])


class Workspace(NamedTuple):
    """Workspace for one batch."""

    level: np.ndarray  # [unit] W'base over the sparse columns, kept up to date
    units: np.ndarray  # [i · unit] sums of the hidden units, then their errors
    errors: np.ndarray  # [i] of the output
    hidden: np.ndarray  # [feature · unit] Σ δ E', all zero between steps
    output: np.ndarray  # [unit] gradient of v
    total: np.ndarray  # [unit] Σ E
    dense: np.ndarray  # [i · dense column] the entries' values there


def width_of(hidden: int) -> int:
    """Return the number of units, including idle ones."""
    return -(-hidden // LANES) * LANES


def empty_workspace(n_features: int, width: int, batch: int) -> Workspace:
    """Return a workspace for batches of up to `batch` entries."""
    even = batch + batch % 2
    return Workspace(
        aligned_zeros(1, width)[0],
        aligned_zeros(1, even * width)[0],
        np.zeros(batch),
        aligned_zeros(1, n_features * width)[0],
        aligned_zeros(1, width)[0],
        aligned_zeros(1, width)[0],
        np.zeros(even * n_features),
    )


def aligned_zeros(rows: int, columns: int) -> np.ndarray:
    """Return zeros that begin at a line of memory, so that lanes touch one line less."""
    memory = np.zeros(rows * columns + _LINE)
    first = (-memory.ctypes.data // memory.itemsize) % _LINE
    return memory[first : first + rows * columns].reshape(rows, columns)


def zero_networks(n: int, d: int, hidden: int) -> NetworkWeights:
    """Return n networks for rows of d columns, with weights of 0."""
    width = width_of(hidden)
    return NetworkWeights(aligned_zeros(n, d * width), aligned_zeros(n, width), np.zeros((n, 1)))


def random_networks(n: int, d: int, hidden: int, rng: np.random.Generator) -> NetworkWeights:
    """Return networks with weights within ±sqrt(6 / (inputs + outputs)) of their layer.

    They are drawn one after the other (Glorot and Bengio, 2010). Biases and idle units are 0.
    """
    networks = zero_networks(n, d, hidden)
    inner, outer = math.sqrt(6 / (d + hidden)), math.sqrt(6 / (hidden + 1))
    drawn = uniforms(-1.0, 1.0, (n, d + 1, hidden), rng)
    networks.hidden.reshape(n, d, -1)[:, :, :hidden] = inner * drawn[:, :d]
    networks.output[:, :hidden] = outer * drawn[:, d]
    return networks


@kernel
def row_of(entry: int) -> int:
    """Return the row of an entry (see `entry_of`)."""
    return entry >> 2


@kernel
def entry_of(row: int, kind: int) -> int:
    """Encode a row and the kind of its reward (REAL, ONE, ZERO) as one number."""
    return row << 2 | kind


@kernel
def take_step(
    network: NetworkWeights,
    workspace: Workspace,
    rows: Rows,
    entries: np.ndarray,
    ahead: np.ndarray,
    rate: float,
) -> None:
    """Take one step down the gradient at these entries.

    `workspace.level` is W'base before and after. The entries `ahead`, which come next, are fetched
    from memory in the meantime: they are scattered, and waiting for them took as long as all sums.
    """
    bias = spread_errors(network, workspace, rows, entries, ahead)
    step = rate / entries.size
    _descend_sparse(network, workspace, rows, step)
    _descend_dense(network, workspace, rows, entries.size, step)
    for k in range(0, workspace.level.size, LANES):
        weights = plus(lanes_at(network.output, k), -step, lanes_at(workspace.output, k))
        put(network.output, k, within(weights, LARGEST))
    network.bias[0] -= step * bias


@kernel
def spread_errors(
    network: NetworkWeights,
    workspace: Workspace,
    rows: Rows,
    entries: np.ndarray,
    ahead: np.ndarray,
) -> float:
    """Set the parts of the gradient in the workspace, as sums over entries, and return its bias."""
    _take_dense(workspace, rows, entries)
    _sum_dense(network, workspace, rows, entries.size)
    _sum_changes(network, workspace, rows, entries, ahead)
    bias = _set_errors(network, workspace, rows.rewards, entries)
    _spread_errors(network, workspace, entries.size)
    _gather_changes(workspace, rows, entries)
    return bias


@kernel
def gather_gradient(workspace: Workspace, rows: Rows, size: int) -> None:
    """Set `workspace.hidden` to the gradient Σ x E' of all columns, after `spread_errors`."""
    width, x, n = workspace.level.size, workspace.dense, rows.filled[1]
    for k in range(0, width, LANES):
        total = lanes_at(workspace.total, k)
        for j in range(rows.base.size):
            if not rows.is_dense[j]:
                gradient = lanes_at(workspace.hidden, j * width + k)
                put(workspace.hidden, j * width + k, plus(gradient, rows.base[j], total))
        for m in range(n):
            gradient = zeros()
            for i in range(size):
                gradient = plus(gradient, x[i * n + m], lanes_at(workspace.units, i * width + k))
            put(workspace.hidden, rows.dense[m] * width + k, gradient)


@kernel
def score_of(network: NetworkWeights, context: np.ndarray) -> float:
    """Return the input of the output's sigmoid for this context, v'h + b."""
    width, score = network.output.size, float(network.bias[0])
    for k in range(0, width, LANES):
        sums = zeros()
        for j in range(context.size):
            sums = plus(sums, context[j], lanes_at(network.hidden, j * width + k))
        score += inner_product(where_positive(sums, sums), lanes_at(network.output, k))
    return score


@kernel
def put_units(network: NetworkWeights, context: np.ndarray, out: np.ndarray) -> None:
    """Write the hidden units max(W'x, 0) of this context into `out`, idle ones included."""
    width = network.output.size
    for k in range(0, width, LANES):
        sums = zeros()
        for j in range(context.size):
            sums = plus(sums, context[j], lanes_at(network.hidden, j * width + k))
        put(out, k, where_positive(sums, sums))


@kernel
def put_squared_gradient(
    network: NetworkWeights, context: np.ndarray, units: np.ndarray, out: NetworkWeights
) -> None:
    """Write the squared derivatives of the score, given the units of the context, into `out`."""
    width = units.size
    out.bias[0] = 1.0
    for k in range(width):
        out.output[k] = units[k] * units[k]
        slope = network.output[k] if units[k] > 0.0 else 0.0
        for j in range(context.size):
            out.hidden[j * width + k] = slope * slope * context[j] * context[j]


@kernel
def set_level(network: NetworkWeights, workspace: Workspace, rows: Rows) -> None:
    """Set `workspace.level` to W'base over the sparse columns."""
    width = workspace.level.size
    for k in range(0, width, LANES):
        level = zeros()
        for j in range(rows.base.size):
            if not rows.is_dense[j]:
                level = plus(level, rows.base[j], lanes_at(network.hidden, j * width + k))
        put(workspace.level, k, level)


# -- forward -----------------------------------------------------------------------------------


@kernel
def _take_dense(workspace: Workspace, rows: Rows, entries: np.ndarray) -> None:
    """Copy the dense columns, with zeros after an odd number of entries to complete the pair."""
    n = rows.filled[1]
    for i in range(entries.size):
        row = row_of(entries[i])
        for m in range(n):
            workspace.dense[i * n + m] = rows.packed[row * n + m]
    if entries.size % 2 == 1:
        workspace.dense[entries.size * n : (entries.size + 1) * n] = 0.0


@kernel
def _sum_dense(network: NetworkWeights, workspace: Workspace, rows: Rows, size: int) -> None:
    """Set the units' sums to the level plus W'x over dense columns, two entries at a time.

    The sums of one entry proceed while those of the other wait for their last addition.
    """
    width, x, n = workspace.level.size, workspace.dense, rows.filled[1]
    for i in range(0, size, 2):
        for k in range(0, width, LANES):
            total = next_total = lanes_at(workspace.level, k)
            for m in range(n):
                weights = lanes_at(network.hidden, rows.dense[m] * width + k)
                total = plus(total, x[i * n + m], weights)
                next_total = plus(next_total, x[(i + 1) * n + m], weights)
            put(workspace.units, i * width + k, total)
            put(workspace.units, (i + 1) * width + k, next_total)


@kernel
def _sum_changes(
    network: NetworkWeights,
    workspace: Workspace,
    rows: Rows,
    entries: np.ndarray,
    ahead: np.ndarray,
) -> None:
    """Add W'δ over the sparse columns to the units' sums."""
    width = workspace.level.size
    for i in range(entries.size):
        if i < ahead.size:
            row = row_of(ahead[i])
            position, first = row * rows.filled[1], rows.first[row]
            fetch(rows.rewards, row)
            fetch(rows.packed, position)
            fetch(rows.packed, position + _LINE)
            fetch(rows.column, first)
            fetch(rows.change, first)
        row = row_of(entries[i])
        begin, end = rows.first[row], rows.middle[row]
        for k in range(0, width, LANES):
            total = lanes_at(workspace.units, i * width + k)
            for p in range(begin, end):
                weights = lanes_at(network.hidden, rows.column[p] * width + k)
                total = plus(total, rows.change[p], weights)
            put(workspace.units, i * width + k, total)


@kernel
def _set_errors(
    network: NetworkWeights, workspace: Workspace, rewards: np.ndarray, entries: np.ndarray
) -> float:
    """Set the errors, output minus target, and return their sum."""
    width, total = workspace.level.size, 0.0
    for i in range(entries.size):
        score = network.bias[0]
        for k in range(0, width, LANES):
            sums = lanes_at(workspace.units, i * width + k)
            score += inner_product(where_positive(sums, sums), lanes_at(network.output, k))
        workspace.errors[i] = score
    for i in range(entries.size):
        # the reward is read even if it is not used: a branch would be mispredicted
        target, kind = rewards[row_of(entries[i])], entries[i] & 3
        target = 1.0 if kind == ONE else target
        target = 0.0 if kind == ZERO else target
        error = clipped_sigmoid(workspace.errors[i]) - target
        workspace.errors[i] = error
        total += error
    return total


@kernel
def clipped_sigmoid(score: float) -> float:
    """Return 1 / (1 + exp(-score)) by this formula, with scores clipped to ±500.

    It is for networks and problems, whose scores are moderate. `regression.logistic.sigmoid` says
    why there are two.
    """
    return 1.0 / (1.0 + math.exp(-min(max(score, -_FARTHEST), _FARTHEST)))


# -- backward ----------------------------------------------------------------------------------


@kernel
def _spread_errors(network: NetworkWeights, workspace: Workspace, size: int) -> None:
    """Set the gradient of v, replace the units' sums by their errors E, and set Σ E."""
    width = workspace.level.size
    for k in range(0, width, LANES):
        gradient, total, weights = zeros(), zeros(), lanes_at(network.output, k)
        for i in range(size):
            sums, error = lanes_at(workspace.units, i * width + k), workspace.errors[i]
            gradient = plus(gradient, error, where_positive(sums, sums))
            errors = where_positive(sums, plus(zeros(), error, weights))
            put(workspace.units, i * width + k, errors)
            total = plus(total, 1.0, errors)
        put(workspace.output, k, gradient)
        put(workspace.total, k, total)


@kernel
def _gather_changes(workspace: Workspace, rows: Rows, entries: np.ndarray) -> None:
    """Sum Σ δ E' over the sparse columns."""
    width = workspace.level.size
    for i in range(entries.size):
        row = row_of(entries[i])
        begin, end = rows.first[row], rows.middle[row]
        for k in range(0, width, LANES):
            errors = lanes_at(workspace.units, i * width + k)
            for p in range(begin, end):
                position = rows.column[p] * width + k
                gradient = plus(lanes_at(workspace.hidden, position), rows.change[p], errors)
                put(workspace.hidden, position, gradient)


@kernel
def _descend_sparse(network: NetworkWeights, workspace: Workspace, rows: Rows, step: float) -> None:
    """Move the weights of sparse columns by -step times the gradient, and update the level."""
    width, base = workspace.level.size, rows.base
    for k in range(0, width, LANES):
        level, total = zeros(), lanes_at(workspace.total, k)
        for j in range(base.size):
            if rows.is_dense[j]:
                continue
            position = j * width + k
            gradient = plus(lanes_at(workspace.hidden, position), base[j], total)
            weights = within(plus(lanes_at(network.hidden, position), -step, gradient), LARGEST)
            put(network.hidden, position, weights)
            put(workspace.hidden, position, zeros())
            level = plus(level, base[j], weights)
        put(workspace.level, k, level)


@kernel
def _descend_dense(
    network: NetworkWeights, workspace: Workspace, rows: Rows, size: int, step: float
) -> None:
    """Move the weights of dense columns by -step times Σ x E'."""
    width, x, n = workspace.level.size, workspace.dense, rows.filled[1]
    for m in range(n):
        for k in range(0, width, LANES):
            even, odd = zeros(), zeros()
            for i in range(0, size, 2):
                even = plus(even, x[i * n + m], lanes_at(workspace.units, i * width + k))
                odd = plus(odd, x[(i + 1) * n + m], lanes_at(workspace.units, (i + 1) * width + k))
            position = rows.dense[m] * width + k
            weights = plus(lanes_at(network.hidden, position), -step, plus(even, 1.0, odd))
            put(network.hidden, position, within(weights, LARGEST))


# -- training --------------------------------------------------------------------------------------

_MEAN, _SQUARE, _TINY = 0.9, 0.999, 1e-8  # β₁, β₂ and ε of the paper


@kernel
def train(
    network: NetworkWeights,
    workspace: Workspace,
    rows: Rows,
    entries: np.ndarray,
    how: tuple[float, int],
    rng: np.random.Generator,
) -> None:
    """Train on the entries, in random order in each pass. `how` is the rate and the passes."""
    rate, passes = how
    for _ in range(passes):
        shuffle(entries, rng)
        descend(network, workspace, rows, entries, rate)


@kernel
def entries_of(positions: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return an entry for each draw of a row, with its kind of reward (see `entry_of`).

    Most counts are 0, 1 or 2. Writing twice each time is faster than testing.
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
    network: NetworkWeights, workspace: Workspace, rows: Rows, entries: np.ndarray, rate: float
) -> None:
    """Train on the entries once, in their order, in batches. The last batch may be smaller."""
    batch, n = workspace.errors.size, entries.size
    set_level(network, workspace, rows)
    for first in range(0, n, batch):
        end = min(first + batch, n)
        ahead = entries[end : min(end + batch, n)]
        take_step(network, workspace, rows, entries[first:end], ahead, rate)


class AdamMoments(NamedTuple):
    """Running means of a network's gradient and of its square."""

    mean: NetworkWeights
    square: NetworkWeights
    missing: np.ndarray  # [2] share by which they fall short, as they begin at zero


class Pace(NamedTuple):
    """The length of a step."""

    rate: float
    decay: float  # of the weights: decay times half their squared length is added to the loss


@kernel
def take_adam_step(
    network: NetworkWeights,
    moments: AdamMoments,
    workspace: Workspace,
    rows: Rows,
    entries: np.ndarray,
    pace: Pace,
) -> None:
    """Move the weights once, along the mean gradient at these entries."""
    set_level(network, workspace, rows)
    bias = spread_errors(network, workspace, rows, entries, entries[:0])
    gather_gradient(workspace, rows, entries.size)
    moments.missing[0] *= _MEAN
    moments.missing[1] *= _SQUARE
    scale = math.sqrt(1.0 - moments.missing[1]) / (1.0 - moments.missing[0])
    share, how = 1.0 / entries.size, Pace(pace.rate * scale, pace.decay)
    mean, square = moments.mean, moments.square
    _move(network.hidden, workspace.hidden, share, mean.hidden, square.hidden, how)
    _move(network.output, workspace.output, share, mean.output, square.output, how)
    workspace.total[0] = bias
    _move(network.bias, workspace.total[:1], share, mean.bias, square.bias, how)
    workspace.hidden[:] = 0.0


@kernel
def _move(
    weights: np.ndarray,
    gradient: np.ndarray,
    share: float,
    mean: np.ndarray,
    square: np.ndarray,
    how: Pace,
) -> None:
    """Move weights by their gradient, which the factor `share` turns into a mean."""
    for i in range(weights.size):
        slope = share * gradient[i] + how.decay * weights[i]
        mean[i] = _MEAN * mean[i] + (1.0 - _MEAN) * slope
        square[i] = _SQUARE * square[i] + (1.0 - _SQUARE) * slope * slope
        moved = weights[i] - how.rate * mean[i] / (math.sqrt(square[i]) + _TINY)
        weights[i] = min(max(moved, -LARGEST), LARGEST)
