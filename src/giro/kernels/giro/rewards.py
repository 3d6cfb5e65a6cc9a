"""Every arm's rewards, their sums, and whether they were all 0 or 1."""

from typing import NamedTuple

import numpy as np

from giro.compiling import inline_kernel, kernel
from giro.kernels.giro.history import History, append, empty_history, rewards_of
from giro.offer import of_arms


class Rewards(NamedTuple):
    """What a resampling policy remembers.

    Where all rewards of an arm were 0 or 1, their number and sum say everything, and a sample of
    them is one draw instead of many.
    """

    history: History
    total: np.ndarray  # [arm] sum of rewards
    binary: np.ndarray  # [arm] whether each reward so far was 0 or 1


class Entries(NamedTuple):
    """The rewards of one arm together with its prior ones."""

    rewards: np.ndarray  # [i]
    total: float  # sum of the rewards
    binary: bool  # whether each of them is 0 or 1
    zeros: int  # prior ones
    ones: int


def no_rewards(n_arms: int, capacity: int) -> Rewards:
    """Return the rewards before the first round, with room for `capacity` of them."""
    return Rewards(empty_history(n_arms, capacity), np.zeros(n_arms), np.ones(n_arms, np.bool_))


@inline_kernel
def remember(rewards: Rewards, arm: int, reward: float) -> None:
    """Add a reward of the arm."""
    append(rewards.history, arm, reward)
    rewards.total[arm] += reward
    if 0.0 < reward < 1.0:
        rewards.binary[arm] = False


@kernel
def entries_of(rewards: Rewards, arm: int, zeros: int, ones: int) -> Entries:
    """Return the arm's rewards, with these numbers of prior zeros and ones."""
    total, binary = rewards.total[arm], rewards.binary[arm]
    return Entries(rewards_of(rewards.history, arm), total, binary, zeros, ones)


@inline_kernel
def all_binary(rewards: Rewards) -> bool:
    """Tell whether every reward of every arm was 0 or 1."""
    for arm in range(rewards.binary.size):
        if not rewards.binary[arm]:
            return False
    return True


@kernel
def beta_of(
    rewards: Rewards, arms: np.ndarray, zeros: int, ones: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ones and zeros of these arms, prior ones included, where rewards are 0 or 1."""
    total, length = of_arms(rewards.total, arms), of_arms(rewards.history.length, arms)
    return total + ones, length - total + zeros
