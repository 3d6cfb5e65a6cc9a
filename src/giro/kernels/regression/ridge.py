"""A ridge regression for each arm, updated with each reward in O(d²).

With weights w of the rewards, A = penalty I + Σ w x x', b = Σ w r x and θ = A⁻¹ b. Without a memory
every reward has weight 1. In a world that changes, the memory sets the weights. The penalty never
fades. Then A is factorised when it is asked for, in O(d³), as all arms' weights may have changed.
"""

from typing import Any, NamedTuple

import numpy as np

from giro.compiling import bind, dispatched, dispatched_call, kernel
from giro.kernels.draws.continuous import standard_normal
from giro.kernels.memory import (
    Everything,
    HalfLife,
    Window,
    exchange_row,
    left_since,
    memory_of,
    now,
)
from giro.kernels.regression.linear_algebra import add_multiple, add_row, set_penalty, solve
from giro.kernels.regression.sums import empty_sums, put_row, solve_sums
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


@kernel
def drawn_theta(ridge: Any, arm: int, sd: float, rng: np.random.Generator) -> np.ndarray:
    """Return a draw from N(θ, sd² A⁻¹) for an arm whose U and θ are there (see `refresh`).

    With A = U'U, θ + sd U⁻¹z has this covariance if z is standard normal.
    """
    theta, factor = np.empty(ridge.workspace.size), ridge.factor[arm]
    for j in range(theta.size - 1, -1, -1):
        remainder = standard_normal(rng)
        for k in range(j + 1, theta.size):
            remainder -= factor[j, k] * theta[k]
        theta[j] = remainder / factor[j, j]
    for j in range(theta.size):
        theta[j] = ridge.theta[arm, j] + sd * theta[j]
    return theta


class ForgettingRidge(NamedTuple):
    """A `Ridge` that forgets. U and θ of an arm are made when they are asked for (`refresh`)."""

    sums: Any  # Σ w x x' and b, see `giro.kernels.regression.sums`
    factor: np.ndarray  # [arm, feature, feature] U with U'U = A
    theta: np.ndarray  # [arm, feature] A⁻¹ b
    workspace: np.ndarray  # [feature] for one row
    made: np.ndarray  # [arm] the time at which U and θ were made, or -1 if a row has come since
    gone: np.ndarray  # [feature] the row that leaves
    penalty: float
    memory: Any

    def widened(self, old: "ForgettingRidge") -> None:
        """Make all factors again, because they lack the new columns."""
        self.made[:] = -1


def empty_forgetting_ridge(
    n_arms: int, n_features: int, penalty: float, memory: HalfLife | Window
) -> ForgettingRidge:
    """Return regressions before any reward, with θ = 0."""
    return ForgettingRidge(
        empty_sums(n_arms, n_features, windowed=isinstance(memory, Window)),
        np.empty((n_arms, n_features, n_features)),
        np.zeros((n_arms, n_features)),
        np.empty(n_features),
        np.full(n_arms, -1),
        np.empty(n_features),
        float(penalty),
        memory,
    )


def ridge_of(
    shape: Shape, penalty: float, *, window: int | None, half_life: float | None
) -> Ridge | ForgettingRidge:
    """Return ridge regressions before any reward that forget by these parameters."""
    n, d = shape.n_models, shape.width
    memory = memory_of(shape, window=window, half_life=half_life, columns=d)
    if isinstance(memory, Everything):
        return empty_ridge(n, d, penalty)
    return empty_forgetting_ridge(n, d, penalty, memory)


@dispatched
def has_memory(ridge: Any) -> bool:
    """Return whether one more reward may change the regressions of all arms."""
    raise TypeError("replaced by dispatch")


@dispatched_call
def take_in(ridge: Any, row: np.ndarray, arm: int, reward: float) -> None:
    """Learn one reward of the arm, and forget rewards that no longer count."""
    raise TypeError("replaced by dispatch")


@dispatched_call
def widen(ridge: Any, row: np.ndarray, arm: int) -> None:
    """Learn a row for the factor alone, where θ is not needed."""
    raise TypeError("replaced by dispatch")


@dispatched
def refresh(ridge: Any, arm: int) -> None:
    """Make the arm's U and θ, unless they are there. `take_in` does so without a memory."""
    raise TypeError("replaced by dispatch")


def _exchange(ridge: ForgettingRidge, row: np.ndarray, arm: int, reward: float) -> None:
    gone, its_reward = exchange_row(ridge.memory, arm, reward, row, ridge.gone)
    if gone >= 0:
        put_row(ridge.sums, ridge.memory, gone, ridge.gone, -1.0, -its_reward)
        ridge.made[gone] = -1
    put_row(ridge.sums, ridge.memory, arm, row, 1.0, reward)
    ridge.made[arm] = -1


def _exchange_width(ridge: ForgettingRidge, row: np.ndarray, arm: int) -> None:
    take_in(ridge, row, arm, 0.0)


def _refresh(ridge: ForgettingRidge, arm: int) -> None:
    if ridge.made[arm] >= 0 and left_since(ridge.memory, ridge.made[arm]) == 1.0:
        return
    left = left_since(ridge.memory, ridge.sums.since[arm])
    solve_sums(ridge.sums, arm, left, ridge.penalty, ridge.factor[arm], ridge.theta[arm])
    ridge.made[arm] = now(ridge.memory)


def _widen(ridge: Ridge, row: np.ndarray, arm: int) -> None:
    add_row(ridge.factor[arm], row, 1.0, ridge.workspace)


def _is_fresh(ridge: Ridge, arm: int) -> None:
    pass


def _has_no_memory(ridge: Ridge) -> bool:
    return False


def _has_memory(ridge: ForgettingRidge) -> bool:
    return True


for _kind, _has, _learn, _learn_width, _make in (
    (Ridge, _has_no_memory, observe, _widen, _is_fresh),
    (ForgettingRidge, _has_memory, _exchange, _exchange_width, _refresh),
):
    bind(has_memory, _kind, _has)
    bind(take_in, _kind, _learn)
    bind(widen, _kind, _learn_width)
    bind(refresh, _kind, _make)
