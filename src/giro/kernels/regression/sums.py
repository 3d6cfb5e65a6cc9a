"""Sums over the rows of regressions that forget, for each slot: Σ w x x' and Σ z x.

With a half-life the sums of a slot fade when the slot is touched, by all rewards that have come
since. With a window, a row that leaves is subtracted. There, each sum is kept in two parts, the
second of which collects the rounding errors of the first (Knuth, 1997, Section 4.2.2, Theorem B).
So a row leaves without a trace, however large it was. The penalty is no part of the sums: it is
added in full when they are solved, as in Russac et al. (2019), and never fades.
"""

from typing import Any, NamedTuple

import numpy as np

from giro.compiling import bind, dispatched, inline_kernel, kernel
from giro.kernels.memory import left_since, now
from giro.kernels.regression.linear_algebra import factorise, solve

_STEPS = 20  # of a penalty that grows until rounding errors leave the matrix positive


class FadingSums(NamedTuple):
    """Sums of rows whose weights fade."""

    gram: np.ndarray  # [slot, i, j] for j >= i
    moment: np.ndarray  # [slot, i]
    since: np.ndarray  # [slot] the time up to which both have faded


class WindowSums(NamedTuple):
    """Sums of rows that leave again."""

    gram: np.ndarray  # [slot, i, j] for j >= i
    moment: np.ndarray  # [slot, i]
    since: np.ndarray  # [slot] unused, as nothing fades
    gram_rest: np.ndarray  # the rounding errors of `gram`
    moment_rest: np.ndarray  # likewise


def empty_sums(slots: int, columns: int, *, windowed: bool) -> FadingSums | WindowSums:
    """Return sums over no rows."""
    gram, moment = np.zeros((slots, columns, columns)), np.zeros((slots, columns))
    since = np.zeros(slots, np.int64)
    if windowed:
        return WindowSums(gram, moment, since, np.zeros_like(gram), np.zeros_like(moment))
    return FadingSums(gram, moment, since)


@kernel
def put_row(
    sums: Any, memory: Any, slot: int, row: np.ndarray, weight: float, total: float
) -> None:
    """Add a row to a slot, `weight` times, with `total` as the sum of its rewards.

    Both are negative for a row that leaves.
    """
    left = left_since(memory, sums.since[slot])
    sums.since[slot] = now(memory)
    _add(sums, slot, left, row, weight, total)


@dispatched
def _add(sums: Any, slot: int, left: float, row: np.ndarray, weight: float, total: float) -> None:
    raise TypeError("replaced by dispatch")


def _add_fading(
    sums: FadingSums, slot: int, left: float, row: np.ndarray, weight: float, total: float
) -> None:
    gram, moment = sums.gram[slot], sums.moment[slot]
    for i in range(row.size):
        moment[i] = left * moment[i] + total * row[i]
        for j in range(i, row.size):
            gram[i, j] = left * gram[i, j] + weight * row[i] * row[j]


def _add_exactly(
    sums: WindowSums, slot: int, left: float, row: np.ndarray, weight: float, total: float
) -> None:
    gram, rest = sums.gram[slot], sums.gram_rest[slot]
    for i in range(row.size):
        _add_in_parts(sums.moment[slot], sums.moment_rest[slot], i, total * row[i])
        for j in range(i, row.size):
            _add_in_parts(gram[i], rest[i], j, weight * row[i] * row[j])


@inline_kernel
def _add_in_parts(values: np.ndarray, rests: np.ndarray, i: int, term: float) -> None:
    """Add a term to values[i], and the rounding error of that to rests[i]."""
    before = values[i]
    after = before + term
    taken = after - before
    values[i] = after
    rests[i] += (before - (after - taken)) + (term - taken)


@kernel
def solve_sums(
    sums: Any, slot: int, left: float, penalty: float, factor: np.ndarray, theta: np.ndarray
) -> None:
    """Set U'U = left Σ w x x' + penalty I, and θ so that U'U θ = left Σ z x.

    Rows so large that rounding errors exceed the penalty are penalised more.
    """
    for _ in range(_STEPS):
        _write(sums, slot, left, factor, theta)
        for j in range(theta.size):
            factor[j, j] += penalty
        if factorise(factor):
            break
        penalty *= 100.0
    solve(factor, theta)


@dispatched
def _write(sums: Any, slot: int, left: float, gram: np.ndarray, moment: np.ndarray) -> None:
    raise TypeError("replaced by dispatch")


def _write_fading(
    sums: FadingSums, slot: int, left: float, gram: np.ndarray, moment: np.ndarray
) -> None:
    for i in range(moment.size):
        moment[i] = left * sums.moment[slot, i]
        for j in range(i, moment.size):
            gram[i, j] = left * sums.gram[slot, i, j]


def _write_exact(
    sums: WindowSums, slot: int, left: float, gram: np.ndarray, moment: np.ndarray
) -> None:
    for i in range(moment.size):
        moment[i] = sums.moment[slot, i] + sums.moment_rest[slot, i]
        for j in range(i, moment.size):
            gram[i, j] = sums.gram[slot, i, j] + sums.gram_rest[slot, i, j]


bind(_add, FadingSums, _add_fading)
bind(_add, WindowSums, _add_exactly)
bind(_write, FadingSums, _write_fading)
bind(_write, WindowSums, _write_exact)
