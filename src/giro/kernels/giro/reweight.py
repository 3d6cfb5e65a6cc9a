"""Means of an arm's rewards and some prior zeros and ones under random weights.

Each function returns the weighted mean of all of them, and infinity where there are none. For an
arm whose rewards were all 0 or 1 a weight per reward is not needed: one draw has the same
distribution. Exponential weights: see `lazy_weights`.
"""

import math
from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.draws.continuous import (
    standard_normal,
)
from giro.kernels.draws.discrete import binomial
from giro.kernels.giro.history import Rewards, rewards_of


class Entries(NamedTuple):
    """The rewards of one arm together with its prior ones."""

    rewards: np.ndarray  # [i]
    total: float  # sum of the rewards
    binary: bool  # whether each of them is 0 or 1
    zeros: int  # prior ones
    ones: int


@kernel
def entries_of(rewards: Rewards, arm: int, zeros: int, ones: int) -> Entries:
    """Return the arm's rewards, with these numbers of prior zeros and ones."""
    total, binary = rewards.total[arm], rewards.binary[arm]
    return Entries(rewards_of(rewards.history, arm), total, binary, zeros, ones)


@kernel
def multinomial_mean(entries: Entries, rng: np.random.Generator) -> float:
    """Return the mean of as many draws with replacement as there are entries (Efron's bootstrap).

    How many draws fall on prior entries is binomial; how many of those are ones is, too.
    """
    rewards, total, binary, zeros, ones = entries
    m = rewards.size + zeros + ones
    if m == 0:
        return np.inf
    if binary:
        return binomial(m, (total + ones) / m, rng) / m
    drawn, observed = 0.0, m
    if zeros + ones > 0:
        observed = binomial(m, rewards.size / m, rng)
        drawn += binomial(m - observed, ones / (zeros + ones), rng)
    for _ in range(observed):
        drawn += rewards[int(rng.random() * rewards.size)]
    return drawn / m


@kernel
def gaussian_mean(entries: Entries, squares: float, rng: np.random.Generator) -> float:
    """Return the mean under independent N(1, 1) weights, given that their sum is positive.

    Sum w y and sum w are jointly normal with means and covariances sum y, m, and sum y^2, sum y, m:
    two draws whatever the rewards. `squares` is the sum of squared rewards.
    """
    m = entries.rewards.size + entries.zeros + entries.ones
    if m == 0:
        return np.inf
    total = entries.total + entries.ones
    rest = max(squares + entries.ones - total * total / m, 0.0)  # variance given sum w
    weights = 0.0
    while weights <= 0.0:
        weights = m + math.sqrt(m) * standard_normal(rng)
    return total / m + math.sqrt(rest) * standard_normal(rng) / weights


@kernel
def shifted_mean(entries: Entries, sd: float, rng: np.random.Generator) -> float:
    """Return the mean after an independent N(0, sd^2) was added to each entry.

    The mean of m such shifts is N(0, sd^2 / m): one draw whatever the rewards.
    """
    m = entries.rewards.size + entries.zeros + entries.ones
    if m == 0:
        return np.inf
    return (entries.total + entries.ones) / m + sd / math.sqrt(m) * standard_normal(rng)
