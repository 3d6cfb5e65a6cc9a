"""The rewards of every arm in the order they came, their sums, and whether all were 0 or 1.

Rewards of all arms lie in one array that is never reallocated.
"""

from typing import NamedTuple

import numpy as np

from giro.compiling import inline_kernel, kernel

_FIRST = 8  # rewards that an arm can hold at first


class History(NamedTuple):
    """The rewards of all arms.

    Arm i owns `pool[begin[i] : begin[i] + length[i]]`. An arm that outgrows its place moves to a
    new one of twice the size at the end of the pool, so the pool is at most four times as large as
    the rewards in it, plus eight per arm.
    """

    pool: np.ndarray  # [entry]
    begin: np.ndarray  # [arm] where the arm's rewards start
    length: np.ndarray  # [arm] how many there are
    fits: np.ndarray  # [arm] how many fit
    used: np.ndarray  # [1] entries of the pool given away

    def trimmed(self) -> "History":
        """Return the history without unused room."""
        return self._replace(pool=self.pool[: self.used[0]])


def empty_history(n_arms: int, capacity: int, dtype: type = np.float64) -> History:
    """Return a history without rewards, that can hold `capacity` of them."""
    pool: np.ndarray = np.empty(4 * capacity + _FIRST * n_arms, dtype)
    begin, length, fits = np.zeros((3, n_arms), np.int64)
    return History(pool, begin, length, fits, np.zeros(1, np.int64))


@inline_kernel
def append(history: History, arm: int, reward: float) -> None:
    """Add a reward at the end of the arm's history."""
    length = history.length[arm]
    if length == history.fits[arm]:
        _move(history, arm)
    history.pool[history.begin[arm] + length] = reward
    history.length[arm] = length + 1


@kernel
def _move(history: History, arm: int) -> None:
    """Give the arm a place of twice the size at the end of the pool."""
    begin, length, used = history.begin[arm], history.length[arm], history.used[0]
    for i in range(length):
        history.pool[used + i] = history.pool[begin + i]
    history.begin[arm] = used
    history.fits[arm] = max(_FIRST, 2 * length)
    history.used[0] = used + history.fits[arm]


@kernel
def rewards_of(history: History, arm: int) -> np.ndarray:
    """Return the arm's rewards, a view of the pool."""
    begin = history.begin[arm]
    return history.pool[begin : begin + history.length[arm]]


class Rewards(NamedTuple):
    """The memory of a resampling policy.

    Where all rewards of an arm were 0 or 1, their number and sum say everything, and a sample of
    them is one draw instead of many.
    """

    history: History
    total: np.ndarray  # [arm] sum of rewards
    binary: np.ndarray  # [arm] whether each reward so far was 0 or 1


def no_rewards(n_arms: int, capacity: int) -> Rewards:
    """Return the rewards before the first round, that can hold `capacity` of them."""
    return Rewards(empty_history(n_arms, capacity), np.zeros(n_arms), np.ones(n_arms, np.bool_))


@inline_kernel
def remember(rewards: Rewards, arm: int, reward: float) -> None:
    """Add a reward of the arm."""
    append(rewards.history, arm, reward)
    rewards.total[arm] += reward
    if 0.0 < reward < 1.0:
        rewards.binary[arm] = False


@inline_kernel
def all_binary(rewards: Rewards) -> bool:
    """Return whether every reward of every arm was 0 or 1."""
    for arm in range(rewards.binary.size):
        if not rewards.binary[arm]:
            return False
    return True
