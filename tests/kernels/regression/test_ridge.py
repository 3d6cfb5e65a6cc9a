"""Ridge regressions kept up to date, against direct solves."""

import numpy as np
from kernels.regression.test_inverse import hard_rows

from giro.compiling import kernel
from giro.kernels.regression.ridge import Ridge, empty_ridge, observe
from giro.seeds import stream

ROWS = 10_000


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
