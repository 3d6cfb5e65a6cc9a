"""A ridge regression for each arm, updated with each reward in O(d²).

With weights w of the rewards, A = penalty I + Σ w x x', b = Σ w r x and θ = A⁻¹ b. Without a memory
every reward has weight 1. In a world that changes, the memory sets the weights. The penalty never
fades.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from giro.compiling import bind, dispatched, dispatched_call, kernel
from giro.kernels.memory import (
    HalfLife,
    Window,
    empty_window,
    half_life_memory,
    is_full,
    keep,
    next_place,
)
from giro.kernels.regression.linear_algebra import (
    add_multiple,
    add_row,
    assign,
    set_penalty,
    solve,
    take_row,
)
from giro.offer import Shape


class Ridge(NamedTuple):
    """For each arm A = penalty I + Σ x x' and b = Σ r x over its pulls, and θ = A⁻¹ b."""

    factor: np.ndarray  # [arm, feature, feature] U with U'U = A
    moment: np.ndarray  # [arm, feature] b
    theta: np.ndarray  # [arm, feature]
    workspace: np.ndarray  # [feature] for one row


def empty_ridge(n_arms: int, n_features: int, penalty: float) -> Ridge:
    """Return regressions before any reward, with θ = 0."""
    ridge = Ridge(
        np.empty((n_arms, n_features, n_features)),
        np.zeros((n_arms, n_features)),
        np.zeros((n_arms, n_features)),
        np.empty(n_features),
    )
    for arm in range(n_arms):
        set_penalty(ridge.factor[arm], penalty)
    return ridge


@kernel
def observe(ridge: Ridge, context: np.ndarray, arm: int, reward: float) -> None:
    """Learn one reward of the arm, and solve for its θ."""
    add_row(ridge.factor[arm], context, 1.0, ridge.workspace)
    add_multiple(ridge.moment[arm], reward, context)
    theta = ridge.theta[arm]
    for j in range(theta.size):
        theta[j] = ridge.moment[arm, j]
    solve(ridge.factor[arm], theta)


class ForgettingRidge(NamedTuple):
    """A `Ridge` that forgets."""

    factor: np.ndarray  # [arm, feature, feature] U with U'U = A
    moment: np.ndarray  # [arm, feature] b
    theta: np.ndarray  # [arm, feature] A⁻¹ b
    workspace: np.ndarray  # [feature] for one row
    taken: np.ndarray  # [arm] rows removed from U since it was last computed from its rows
    penalty: float
    memory: Any


def empty_forgetting_ridge(
    n_arms: int, n_features: int, penalty: float, memory: HalfLife | Window
) -> ForgettingRidge:
    """Return regressions before any reward, with θ = 0."""
    ridge = empty_ridge(n_arms, n_features, penalty)
    return ForgettingRidge(*ridge, np.zeros(n_arms, np.int64), float(penalty), memory)


def ridge_of(
    shape: Shape, penalty: float, *, window: int | None, half_life: float | None
) -> Ridge | ForgettingRidge:
    """Return ridge regressions before any reward that forget by these parameters."""
    size = shape.n_models, shape.width
    if window is not None:
        kept = empty_window(int(window), shape.capacity, shape.width)
        return empty_forgetting_ridge(*size, penalty, kept)
    if half_life is not None:
        return empty_forgetting_ridge(*size, penalty, half_life_memory(half_life))
    return empty_ridge(*size, penalty)


@dispatched
def has_memory(ridge: Any) -> bool:
    """Return whether one more reward may change the regressions of all arms."""
    raise TypeError("replaced by dispatch")


@dispatched_call
def take_in(ridge: Any, row: np.ndarray, arm: int, reward: float) -> None:
    """Learn one reward of the arm, forget rewards that no longer count, and solve for θ."""
    raise TypeError("replaced by dispatch")


def _observe_and_forget(ridge: ForgettingRidge, row: np.ndarray, arm: int, reward: float) -> None:
    _make_way(ridge.memory, ridge, row, arm, reward)
    add_row(ridge.factor[arm], row, 1.0, ridge.workspace)
    add_multiple(ridge.moment[arm], reward, row)
    _solve(ridge, arm)


@dispatched_call
def _make_way(
    memory: Any, ridge: ForgettingRidge, row: np.ndarray, arm: int, reward: float
) -> None:
    raise TypeError("replaced by dispatch")


def _fade(
    memory: HalfLife, ridge: ForgettingRidge, row: np.ndarray, arm: int, reward: float
) -> None:
    """Multiply all weights by γ: A becomes γ A + (1 - γ) penalty I, in O(d³) for each arm."""
    gamma, unit = memory.factor, np.zeros(row.size)
    root = math.sqrt(gamma)
    for other in range(ridge.factor.shape[0]):
        for j in range(unit.size):
            ridge.moment[other, j] *= gamma
            for i in range(unit.size):
                ridge.factor[other, i, j] *= root
        for j in range(unit.size):
            unit[j] = 1.0
            add_row(ridge.factor[other], unit, (1.0 - gamma) * ridge.penalty, ridge.workspace)
            unit[j] = 0.0
        _solve(ridge, other)


def _exchange(
    memory: Window, ridge: ForgettingRidge, row: np.ndarray, arm: int, reward: float
) -> None:
    """Remove the oldest row from its arm's regression, in O(d²), and keep the new one.

    Few digits are lost: a regression is computed again from its rows if the row held most of the
    information in some direction, and after as many removals as the window has rows.
    """
    place = next_place(memory)
    gone = int(memory.arms[place]) if is_full(memory) else -1
    if gone >= 0:
        add_multiple(ridge.moment[gone], -memory.rewards[place], memory.rows[place])
        is_sound = take_row(ridge.factor[gone], memory.rows[place], ridge.workspace)
        memory.arms[place] = -1
        ridge.taken[gone] += 1
        if not is_sound or ridge.taken[gone] >= memory.size:
            _make_again(ridge, memory, gone)
        _solve(ridge, gone)
    assign(memory.rows[place], row)
    keep(memory, arm, reward)


@kernel
def _make_again(ridge: ForgettingRidge, memory: Window, arm: int) -> None:
    """Set U and b of an arm from the rows in a full window."""
    set_penalty(ridge.factor[arm], ridge.penalty)
    ridge.moment[arm] = 0.0
    ridge.taken[arm] = 0
    for place in range(memory.size):
        if memory.arms[place] == arm:
            add_row(ridge.factor[arm], memory.rows[place], 1.0, ridge.workspace)
            add_multiple(ridge.moment[arm], memory.rewards[place], memory.rows[place])


@kernel
def _solve(ridge: ForgettingRidge, arm: int) -> None:
    """Set the arm's θ."""
    assign(ridge.theta[arm], ridge.moment[arm])
    solve(ridge.factor[arm], ridge.theta[arm])


def _has_no_memory(ridge: Ridge) -> bool:
    return False


def _has_memory(ridge: ForgettingRidge) -> bool:
    return True


bind(has_memory, Ridge, _has_no_memory)
bind(has_memory, ForgettingRidge, _has_memory)
bind(take_in, Ridge, observe)
bind(take_in, ForgettingRidge, _observe_and_forget)
bind(_make_way, HalfLife, _fade)
bind(_make_way, Window, _exchange)
