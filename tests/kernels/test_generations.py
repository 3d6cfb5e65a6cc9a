"""Tables that take turns, against one table that learns the rewards of a list again each time."""

import numpy as np
import pytest

from giro.compiling import kernel, plain
from giro.kernels.generations import (
    Generations,
    in_turns,
    learn_case,
    learned_row,
    offered_rows,
    predicted,
    squares_in_use,
)
from giro.kernels.hashed import Table, TableRows, empty_table, update_table
from giro.kernels.memory import Everything
from giro.offer import Case, Offer
from giro.seeds import stream

BITS, REPLICAS, RATE, OFFSET, ROUNDS = 5, 2, 0.3, 1.0, 40
Rounds = list[tuple[Case, float, np.ndarray]]


@kernel
def expected(tables: Generations | Table, offer: Offer, replica: int) -> np.ndarray:
    return predicted(tables, offered_rows(tables, offer), replica, 1.0)


@kernel
def learn(tables: Generations, case: Case, reward: float, counts: np.ndarray) -> int:
    return learn_case(tables, case, 0, reward, counts, Everything())


@kernel
def scaled_row(table: Table, case: Case) -> TableRows:
    return learned_row(table, case, 0)


class Twin:
    """Two lists of rounds. After each half of a window the younger answers, and another begins."""

    def __init__(self, window: int) -> None:
        self.half, self.rounds = -(-window // 2), Rounds()
        self.older, self.younger = Rounds(), Rounds()

    def learn(self, case: Case, reward: float, counts: np.ndarray) -> None:
        for each in (self.rounds, self.older, self.younger):
            each.append((case, reward, counts))
        if len(self.rounds) % self.half == 0:
            self.older, self.younger = self.younger, Rounds()

    def table(self) -> Table:
        """Return a table that has learned the older list, and the scales of all rounds."""
        table, forgotten = a_table(), len(self.rounds) - len(self.older)
        for number, (case, reward, counts) in enumerate(self.rounds):
            row = scaled_row(table, case)
            if number >= forgotten:
                update_table(table, row, reward, counts)
        return table


def a_table() -> Table:
    return empty_table(BITS, REPLICAS, RATE, OFFSET)


def some_rounds(n: int, seed: int) -> Rounds:
    """Return rounds whose features come and go, with rewards that some replicas do not use."""
    rng, found = stream(seed, 17), Rounds()
    for _ in range(n):
        context = rng.normal(size=4) * (rng.random(4) < 0.3)
        counts = rng.integers(0, 3, (REPLICAS, 3)).astype(np.int32)
        found.append((Case(context, rng.normal(size=2)), float(rng.random()), counts))
    return found


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("window", [1, 2, 7, 12, 1000])
def test_what_answers_has_learned_the_rounds_of_a_list_and_nothing_else(
    window: int, compiled: bool, seed: int
) -> None:
    form = (lambda f: f) if compiled else plain
    tables, twin, counted = in_turns(a_table(), a_table(), window), Twin(window), 0
    rng = stream(seed, 18)
    for n, (case, reward, counts) in enumerate(some_rounds(ROUNDS if compiled else 9, seed), 1):
        counted += 1 - form(learn)(tables, case, reward, counts)
        twin.learn(case, reward, counts)
        assert counted == len(twin.older)
        assert min(n, window / 2) <= counted <= window
        offer = Offer(np.arange(3), rng.normal(size=4), rng.normal(size=(3, 2)))
        table = twin.table()
        for replica in range(REPLICAS):
            found = form(expected)(tables, offer, replica)
            np.testing.assert_array_equal(found, form(expected)(table, offer, replica))
        np.testing.assert_array_equal(squares_in_use(tables), squares_in_use(table))
