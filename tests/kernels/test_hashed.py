"""The table of hashed features, against weights by name."""

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from giro.compiling import kernel, plain
from giro.hashing import IS_NUMBER
from giro.kernels.generations import learned_row, offered_rows
from giro.kernels.hashed import (
    LARGEST,
    MEAN,
    Table,
    TableRows,
    empty_table,
    expected_by_replica,
    pass_time,
    round_entries,
    scales_of,
    update_table,
)
from giro.kernels.memory import Everything, exchange, half_life_memory
from giro.offer import Case, Offer, SparseRow, SparseRows
from giro.seeds import stream

RATE, OFFSET, REPLICAS = 0.3, 1.0, 3


class Twin:
    """The same model with a weight for each name, in the words of its module."""

    def __init__(self) -> None:
        self.weights: dict[object, list[float]] = defaultdict(lambda: [0.0] * REPLICAS)
        self.squares: dict[object, float] = defaultdict(float)
        self.rows, self.lengths = 0.0, 0.0

    def fade(self, factor: float) -> None:
        self.rows, self.lengths = factor * self.rows, factor * self.lengths
        for name in self.squares:
            self.squares[name] *= factor

    def row(self, context: dict[int, float], arm: dict[int, float]) -> dict[object, float]:
        found: dict[object, float] = {"constant": 1.0}
        found |= {("round", name): value for name, value in context.items()}
        found |= {("arm", name): value for name, value in arm.items()}
        for left, x in context.items():
            found |= {(left, right): x * y for right, y in arm.items()}
        return found

    def expected(self, row: dict[object, float], replica: int) -> float:
        return OFFSET + sum(self.weights[name][replica] * z for name, z in row.items())

    def learn(self, row: dict[object, float], reward: float, counts: np.ndarray) -> None:
        times = counts.sum(axis=1)
        targets = (counts[:, 0] * reward + counts[:, 1]) / np.maximum(times, 1)
        errors = [targets[r] - self.expected(row, r) for r in range(REPLICAS)]
        energy = sum(times[r] * errors[r] ** 2 for r in range(REPLICAS)) / REPLICAS
        self.rows += 1
        self.lengths += sum(z * z for z in row.values())
        norm, q = math.sqrt(self.rows / self.lengths), 0.0
        for name, z in row.items():
            self.squares[name] += energy * z * z
        v = {name: norm / math.sqrt(self.squares[name]) for name, z in row.items() if z}
        q = sum(v[name] * row[name] ** 2 for name in v)
        for name, speed in v.items():
            for r in range(REPLICAS):
                share = (1 - math.exp(-2 * RATE * times[r] * q)) / q
                self.weights[name][r] += errors[r] * share * speed * row[name]


def drawn(rng: np.random.Generator) -> tuple[dict[int, float], list[dict[int, float]]]:
    """Return a context and three arms; values are powers of two up to 1, the first always 1."""
    sizes = [1.0, 0.5, 0.25, -1.0]
    context = {0: 1.0} | {int(i): sizes[rng.integers(4)] for i in rng.integers(1, 30, 3)}
    arms = [
        {0: 1.0} | {int(i): sizes[rng.integers(4)] for i in rng.integers(1, 30, 2)}
        for _ in range(3)
    ]
    return context, arms


def sparse(row: dict[int, float]) -> SparseRow:
    return SparseRow(np.array(list(row), np.int64), np.array(list(row.values())))


def sparse_arms(rows: list[dict[int, float]]) -> SparseRows:
    ends = np.cumsum([0, *map(len, rows)])
    columns = [name for row in rows for name in row]
    return SparseRows(ends, np.array(columns), np.array([v for row in rows for v in row.values()]))


@kernel
def offered(table: Table, offer: Offer) -> TableRows:
    return offered_rows(table, offer)


@kernel
def learned(table: Table, case: Case, arm: int) -> TableRows:
    return learned_row(table, case, arm)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("half_life", [None, 1.0, 15.0])  # with 1 sums are divided at row 50
def test_replicas_are_those_of_a_twin_with_names(compiled: bool, half_life: float | None) -> None:
    memory = half_life_memory(half_life) if half_life else Everything()
    form = (lambda f: f) if compiled else plain
    rng, twin, table = stream(5), Twin(), empty_table(20, REPLICAS, RATE, OFFSET)
    table.weights[:, LARGEST] = 1.0  # as the twin takes them
    for _ in range(60 if compiled else 15):
        context, arms = drawn(rng)
        rows = form(offered)(table, Offer(np.arange(3), sparse(context), sparse_arms(arms)))
        wanted = np.array(
            [[twin.expected(twin.row(context, arm), r) for r in range(3)] for arm in arms]
        )
        mean = wanted.mean(axis=1)
        for replica in range(REPLICAS):
            for spread in (0.0, 0.3, 1.0):
                found = form(expected_by_replica)(table, rows, replica, spread)
                shrunk = mean + spread * (wanted[:, replica] - mean)
                np.testing.assert_allclose(found, shrunk, atol=2e-5)
        counts, reward = rng.integers(0, 3, (REPLICAS, 3)).astype(np.int32), rng.random()
        row = form(learned)(table, Case(sparse(context), sparse(arms[0])), 0)
        exchange(memory, 0, reward)
        form(pass_time)(table, table.seen, memory)
        twin.fade(memory.factor)
        form(update_table)(table, row, reward, counts)
        if counts.sum():
            twin.learn(twin.row(context, arms[0]), reward, counts)


def learn(table: Table, context: np.ndarray, arm: np.ndarray, reward: float, times: int) -> None:
    update_table(table, learned(table, Case(context, arm), 0), reward, np.array([[times, 0, 0]]))


def expected(table: Table, context: np.ndarray, arm: np.ndarray) -> float:
    rows = offered(table, Offer(np.arange(1), context, arm[None]))
    return float(expected_by_replica(table, rows, 0, 1.0)[0])


def test_the_unit_of_a_number_does_not_matter() -> None:
    rng, small, large = stream(6), empty_table(16, 1, 0.5, 1.0), empty_table(16, 1, 0.5, 1.0)
    for _ in range(50):
        context, arm = rng.random(3), rng.random(2)
        assert expected(small, context, arm) == expected(large, 1024.0 * context, arm)
        reward = rng.random()
        learn(small, context, arm, reward, 1)
        learn(large, 1024.0 * context, arm, reward, 1)


def test_marked_numbers_count_from_their_mean_in_spreads() -> None:
    rng, scales = stream(7), scales_of(empty_table(12, 1, 0.5, 1.0))
    code, values = 5 + IS_NUMBER, 1990.0 + 10.0 * rng.random(200)
    for value in values:
        round_entries(SparseRow(np.array([code]), np.array([value])), scales, True)
    row = round_entries(SparseRow(np.array([code]), np.array([1995.0])), scales, False)
    wanted = (1995.0 - values.mean()) / values.std()
    assert row.value[0] == pytest.approx(wanted, abs=1e-6)


def test_one_slip_of_a_unit_does_not_spoil_a_column() -> None:
    table = empty_table(12, 1, 0.5, 1.0)
    learn(table, np.array([2.0]), np.array([1.0]), 0.5, 1)
    learn(table, np.array([2e9]), np.array([1.0]), 0.5, 1)
    assert table.weights[:, LARGEST].max() == 8.0


@given(st.integers(1, 1000), st.floats(0, 1), st.floats(0.01, 10), st.integers(0, 10))
def test_a_step_goes_towards_the_reward_and_never_beyond(
    times: int, reward: float, rate: float, before: int
) -> None:
    table, rng = empty_table(10, 1, rate, 1.0), stream(8, before)
    for _ in range(before):
        learn(table, rng.random(2), rng.random(2), rng.random(), 1)
    row = learned(table, Case(rng.random(2), np.ones(2)), 0)
    gap = reward - expected_by_replica(table, row, 0, 1.0)[0]
    update_table(table, row, reward, np.array([[times, 0, 0]]))
    left = reward - expected_by_replica(table, row, 0, 1.0)[0]
    assert abs(left) <= abs(gap) + 1e-5
    assert left * gap >= -1e-4 * max(1.0, abs(gap))


def test_more_of_a_reward_goes_further() -> None:
    gaps = []
    for times in (1, 2, 4, 1000):
        table = empty_table(10, 1, 0.05, 1.0)
        learn(table, np.ones(2), np.ones(2), 0.0, times)
        gaps.append(expected(table, np.ones(2), np.ones(2)))
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] == pytest.approx(0.0, abs=1e-3)


def test_arms_without_features_are_known_by_their_numbers() -> None:
    table, nothing = empty_table(12, 1, 0.5, 1.0), np.empty(0)
    for _ in range(20):
        update_table(table, learned(table, Case(nothing, nothing), 4), 0.0, np.array([[1, 0, 0]]))
    rows = offered(table, Offer(np.array([3, 4]), nothing, np.empty((0, 0))))
    other, its = expected_by_replica(table, rows, 0, 1.0)
    assert its < 0.1 < other


def test_the_mean_is_that_of_the_replicas() -> None:
    table, rng = empty_table(8, REPLICAS, RATE, OFFSET), stream(9)
    for _ in range(200):
        row = learned(table, Case(rng.normal(size=3), rng.normal(size=2)), 0)
        update_table(table, row, rng.random(), rng.integers(0, 3, (REPLICAS, 3)))
    np.testing.assert_allclose(
        table.weights[:, MEAN], table.weights[:, MEAN + 1 :].mean(axis=1), atol=1e-6
    )
