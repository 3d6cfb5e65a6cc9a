"""Ridge regressions that remember everything, or forget, against direct solves."""

from typing import Any

import numpy as np
import pytest
from kernels.regression.test_linear_algebra import hard_rows

from giro.compiling import kernel
from giro.kernels.memory import empty_window, half_life_memory
from giro.kernels.regression.ridge import (
    ForgettingRidge,
    Ridge,
    empty_forgetting_ridge,
    empty_ridge,
    has_memory,
    observe,
    refresh,
    take_in,
)
from giro.seeds import stream

ROWS, D = 10_000, 9


@kernel
def _observe_all(ridge: Ridge, rows: np.ndarray, arms: np.ndarray, rewards: np.ndarray) -> None:
    for i in range(arms.size):
        observe(ridge, rows[i], arms[i], rewards[i])


def test_after_ten_thousand_rewards_each_arm_has_the_parameters_of_a_direct_solve(
    seed: int,
) -> None:
    rng, rows = stream(seed), hard_rows(ROWS, 12, seed)
    arms, rewards = rng.integers(0, 3, ROWS), rng.random(ROWS)
    ridge = empty_ridge(4, 12, 1.0)
    _observe_all(ridge, rows, arms, rewards)
    for arm in range(3):
        its = rows[arms == arm]
        direct = np.linalg.solve(its.T @ its + np.eye(12), its.T @ rewards[arms == arm])
        assert np.abs(ridge.theta[arm] - direct).max() < 1e-8 * np.abs(direct).max()
    assert ridge.theta[3].tolist() == [0.0] * 12


@kernel
def _take_in_all(
    ridge: ForgettingRidge, rows: np.ndarray, arms: np.ndarray, rewards: np.ndarray
) -> None:
    for i in range(arms.size):
        take_in(ridge, rows[i], arms[i], rewards[i])
    for arm in range(ridge.made.size):
        refresh(ridge, arm)


def assert_forgets(memory: Any, weights: np.ndarray, penalty: float, seed: int) -> None:
    """Fail unless parameters and factors are those of rows of these weights, solved directly."""
    rng, rows = stream(seed), hard_rows(ROWS, D, seed)
    arms, rewards = rng.integers(0, 3, ROWS), rng.random(ROWS)
    ridge = empty_forgetting_ridge(4, D, penalty, memory)
    _take_in_all(ridge, rows, arms, rewards)
    for arm in range(4):
        its, weighted = rows[arms == arm], rows[arms == arm] * weights[arms == arm, None]
        matrix = its.T @ weighted + penalty * np.eye(D)
        direct = np.linalg.solve(matrix, weighted.T @ rewards[arms == arm])
        assert np.abs(ridge.theta[arm] - direct).max() < 1e-8 * max(np.abs(direct).max(), 1e-6)
        factor = np.triu(ridge.factor[arm])
        close = {"rtol": 1e-9, "atol": 1e-9 * np.abs(matrix).max()}
        np.testing.assert_allclose(factor.T @ factor, matrix, **close)


@pytest.mark.parametrize("size", [1, 30, 1_000])
def test_after_ten_thousand_rewards_a_window_has_the_parameters_of_its_rows(
    size: int, seed: int
) -> None:
    last = np.arange(ROWS) >= ROWS - size
    assert_forgets(empty_window(size, ROWS, D), last.astype(float), 1.0, seed)


@pytest.mark.parametrize("half_life", [0.5, 20.0, 3_000.0])
def test_after_ten_thousand_rewards_a_half_life_has_the_parameters_of_weighted_rows(
    half_life: float, seed: int
) -> None:
    weights = 2.0 ** (-np.arange(ROWS)[::-1] / half_life)
    assert_forgets(half_life_memory(half_life), weights, 2.0, seed)


def test_only_a_regression_with_a_memory_forgets() -> None:
    assert not has_memory(empty_ridge(1, 2, 1.0))
    assert has_memory(empty_forgetting_ridge(1, 2, 1.0, half_life_memory(5.0)))
