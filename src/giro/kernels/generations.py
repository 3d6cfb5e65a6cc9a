"""Two tables of hashed features that take turns, so that rewards leave a window.

A step cannot be taken back. So a table forgets by starting anew, and answers when it has learned
enough again. With h half a window, rounded up, generation g learns the h rewards before number g h
and the h rewards after it, and answers while the latter come. It has then learned the last rewards,
at least h of them and at most the window, or all if there have been fewer. Two generations learn at
any time, and generation g is in the even or the odd table.

A table is not emptied at once, which would be a pause. Each column has a stamp, the generation that
learned it last. With an older stamp it counts as zero, and it is zeroed when it is learned. The
scales of values are not forgotten.
"""

from typing import Any, NamedTuple

import numpy as np

from giro.compiling import bind, dispatched, inline_kernel, kernel
from giro.kernels.hashed import (
    MEAN,
    Table,
    TableRows,
    arm_entries,
    case_entries,
    expected_by_replica,
    pass_time,
    round_entries,
    scales_of,
    table_rows,
    update_table,
)
from giro.offer import Case, Offer


class Generations(NamedTuple):
    """Two tables that take turns."""

    even: Table
    odd: Table
    stamps: np.ndarray  # [table, column] the generation that learned it last
    learned: np.ndarray  # [1] rewards so far
    half: int  # of the window, rounded up


def in_turns(older: Table, younger: Table, window: int) -> Generations:
    """Return two empty tables as the first two generations."""
    stamps = np.zeros((2, older.squares.size), np.int64)
    return Generations(older, younger, stamps, np.zeros(1, np.int64), (window + 1) // 2)


@inline_kernel
def _turn(tables: Generations) -> int:
    """Return the generation that answers. The next one learns, too."""
    return int(tables.learned[0] // tables.half)


@inline_kernel
def _table(tables: Generations, generation: int) -> Table:
    return tables.even if generation % 2 == 0 else tables.odd


@dispatched
def offered_rows(tables: Any, offer: Offer) -> TableRows:
    """Return the rows of the arms on offer, for the table that answers."""
    raise TypeError("replaced by dispatch")


@inline_kernel
def _rows(table: Table, offer: Offer) -> TableRows:
    scales = scales_of(table)
    entries = round_entries(offer.context, scales, False)
    return table_rows(table, entries, arm_entries(offer.features, offer.arms, scales))


def _rows_in_use(tables: Generations, offer: Offer) -> TableRows:
    """Return the rows with zeros where a column is forgotten."""
    turn = _turn(tables)
    rows = _rows(_table(tables, turn), offer)
    for j in range(rows.column.size):
        if tables.stamps[turn % 2, rows.column[j]] != turn:
            rows.value[j] = 0.0
    return rows


@dispatched
def predicted(tables: Any, rows: TableRows, replica: int, spread: float) -> np.ndarray:
    """Return a replica's prediction for each arm, see `expected_by_replica`."""
    raise TypeError("replaced by dispatch")


def _by_generation(tables: Generations, rows: TableRows, replica: int, spread: float) -> np.ndarray:
    return expected_by_replica(_table(tables, _turn(tables)), rows, replica, spread)


@inline_kernel
def learned_row(table: Table, case: Case, arm: int) -> TableRows:
    """Update the scales of numbers, and return the row of a chosen arm."""
    scales = scales_of(table)
    entries = round_entries(case.context, scales, True)
    return table_rows(table, entries, case_entries(case.features, arm, scales))


@dispatched
def learn_case(
    tables: Any, case: Case, arm: int, reward: float, counts: np.ndarray, memory: Any
) -> int:
    """Learn a reward, and return how many earlier ones no longer count."""
    raise TypeError("replaced by dispatch")


def _into_table(
    table: Table, case: Case, arm: int, reward: float, counts: np.ndarray, memory: Any
) -> int:
    pass_time(table, table.seen, memory)
    update_table(table, learned_row(table, case, arm), reward, counts)
    return 0


def _into_both(
    tables: Generations, case: Case, arm: int, reward: float, counts: np.ndarray, memory: Any
) -> int:
    before = _turn(tables)
    for generation in (before, before + 1):
        table = _table(tables, generation)
        row = learned_row(table, case, arm)
        _empty(table, row.column, tables.stamps[generation % 2], generation)
        update_table(table, row, reward, counts)
    tables.learned[0] += 1
    turn = _turn(tables)
    if turn == before:
        return 0
    _table(tables, before).seen[:] = 0.0  # begins anew with the next reward
    return tables.half if turn > 1 else 0  # the first two have learned the same


@kernel
def _empty(table: Table, columns: np.ndarray, stamps: np.ndarray, generation: int) -> None:
    """Empty those of the columns that an earlier generation left."""
    for j in range(columns.size):
        if stamps[columns[j]] != generation:
            table.weights[columns[j], MEAN:] = 0.0
            table.squares[columns[j]] = 0.0
            stamps[columns[j]] = generation


def squares_in_use(tables: Table | Generations) -> np.ndarray:
    """Return the squares of the table that answers, zero for columns that are forgotten."""
    if isinstance(tables, Table):
        return tables.squares
    turn = _turn(tables)
    return np.where(tables.stamps[turn % 2] == turn, _table(tables, turn).squares, np.float32(0.0))


for _kind, _offered, _predicted, _learn in (
    (Table, _rows, expected_by_replica, _into_table),
    (Generations, _rows_in_use, _by_generation, _into_both),
):
    bind(offered_rows, _kind, _offered)
    bind(predicted, _kind, _predicted)
    bind(learn_case, _kind, _learn)
