"""Sums of regressions that forget, against sums over the rows that count."""

import numpy as np
import pytest
from kernels.regression.test_linear_algebra import hard_rows

from giro.compiling import plain
from giro.kernels.memory import empty_window, exchange, half_life_memory
from giro.kernels.regression.sums import WindowSums, empty_sums, put_row, solve_sums
from giro.seeds import stream

ROWS, D, SLOTS = 400, 6, 3


def test_rows_fade_by_the_rewards_of_all_slots_since_they_came(seed: int) -> None:
    rng, rows, memory = stream(seed), hard_rows(ROWS, D, seed), half_life_memory(30.0)
    slots, weights, totals = rng.integers(0, SLOTS, ROWS), rng.random(ROWS), rng.random(ROWS)
    sums = empty_sums(SLOTS, D, windowed=False)
    for slot, row, weight, total in zip(slots, rows, weights, totals, strict=True):
        exchange(memory, slot, total)
        put_row(sums, memory, slot, row, weight, total)
    for slot in range(SLOTS):
        mine = np.flatnonzero(slots == slot)
        left = 0.5 ** ((mine[-1] - mine) / 30.0)  # at the slot's last row
        gram = (rows[mine] * (left * weights[mine])[:, None]).T @ rows[mine]
        moment = (left * totals[mine]) @ rows[mine]
        np.testing.assert_allclose(np.triu(sums.gram[slot]), np.triu(gram), rtol=1e-9)
        np.testing.assert_allclose(sums.moment[slot], moment, rtol=1e-9)


@pytest.mark.parametrize("way", [lambda kernel: kernel, plain])
def test_a_row_that_leaves_leaves_no_trace_however_large_it_was(way, seed: int) -> None:
    rng, memory = stream(seed), empty_window(1, 1, D)
    small, sums = rng.normal(size=(20, D)), empty_sums(1, D, windowed=True)
    for i, row in enumerate(small):
        huge = rng.normal(size=D) * 10.0 ** rng.integers(0, 8)
        way(put_row)(sums, memory, 0, huge, 0.7, 0.3)
        way(put_row)(sums, memory, 0, row, 1.0, float(i))
        way(put_row)(sums, memory, 0, huge, -0.7, -0.3)
    assert isinstance(sums, WindowSums)
    gram = np.triu(sums.gram[0] + sums.gram_rest[0])
    np.testing.assert_allclose(gram, np.triu(small.T @ small), rtol=1e-12, atol=1e-12)
    factor, theta = np.empty((D, D)), np.empty(D)
    way(solve_sums)(sums, 0, 1.0, 2.0, factor, theta)
    direct = np.linalg.solve(small.T @ small + 2.0 * np.eye(D), np.arange(20.0) @ small)
    np.testing.assert_allclose(theta, direct, rtol=1e-9)


def test_rows_too_large_for_their_penalty_are_solved_with_a_larger_one(seed: int) -> None:
    row, memory = np.array([1e12, 1e12]), half_life_memory(9.0)
    sums, factor, theta = empty_sums(1, 2, windowed=False), np.empty((2, 2)), np.empty(2)
    put_row(sums, memory, 0, row, 1.0, 1.0)
    solve_sums(sums, 0, 1.0, 1.0, factor, theta)
    assert row @ theta == pytest.approx(1.0, abs=1e-3)
