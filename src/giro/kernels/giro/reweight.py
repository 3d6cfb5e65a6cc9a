"""Means of an arm's rewards and some prior zeros and ones under random weights.

Each function returns the weighted mean of all of them, and infinity where there are none. For an
arm whose rewards were all 0 or 1 a weight per reward is not needed: one draw has the same
distribution.
"""

import math
from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.draws.continuous import (
    beta,
    standard_exponential,
    standard_gamma,
    standard_normal,
)
from giro.kernels.draws.discrete import binomial
from giro.kernels.giro.history import Rewards, rewards_of
from giro.kernels.highest.beta_argmax import beta_argmax
from giro.kernels.highest.densities import beta_argmax_probabilities
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import argmax
from giro.offer import of_arms

_DRAWN = -1.0  # in place of a value that is drawn


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
def exponential_mean(entries: Entries, rng: np.random.Generator) -> float:
    """Return the mean under independent Exp(1) weights (Rubin's Bayesian bootstrap, 1981).

    Sums of Exp(1) are gamma, so with f zeros and g ones in all the mean is Beta(g, f).
    """
    rewards, total, binary, zeros, ones = entries
    m = rewards.size + zeros + ones
    if m == 0:
        return np.inf
    if binary:
        g, f = total + ones, m - total - ones
        if g == 0.0 or f == 0.0:
            return 0.0 if g == 0.0 else 1.0
        return beta(g, f, rng)
    weighted = _gamma_or_zero(ones, rng)
    weights = weighted + _gamma_or_zero(zeros, rng)
    for reward in rewards:
        weight = standard_exponential(rng)
        weighted += weight * reward
        weights += weight
    return weighted / weights


@kernel
def _gamma_or_zero(shape: int, rng: np.random.Generator) -> float:
    return standard_gamma(float(shape), rng) if shape > 0 else 0.0


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


# -- exponential weights of zeros and ones ---------------------------------------------------------


@kernel
def exponential_argmax(
    total: np.ndarray,
    pulls: np.ndarray,
    arms: np.ndarray,
    zeros: int,
    ones: int,
    ranking: np.ndarray,
    rng: np.random.Generator,
) -> int:
    """Return the arm with the highest `exponential_mean`, where all rewards are 0 or 1.

    `total` is the sum of each arm's rewards.
    """
    alpha, beta_ = _beta_of(total, pulls, arms, zeros, ones)
    if min(alpha.min(), beta_.min()) > 0.0:
        return int(arms[beta_argmax(alpha, beta_, rng)])
    values = _certain_values(alpha, beta_)
    if values.max() < 1.0:  # otherwise no draw can win
        for i in range(values.size):
            if values[i] == _DRAWN:
                values[i] = beta(alpha[i], beta_[i], rng)
    return argmax(values, arms, ranking, rng)


@kernel
def exponential_argmax_probabilities(
    total: np.ndarray,
    pulls: np.ndarray,
    arms: np.ndarray,
    zeros: int,
    ones: int,
    ranking: np.ndarray,
) -> np.ndarray:
    """Return the probability with which `exponential_argmax` returns each of the arms."""
    alpha, beta_ = _beta_of(total, pulls, arms, zeros, ones)
    if min(alpha.min(), beta_.min()) > 0.0:
        return beta_argmax_probabilities(alpha, beta_)
    values = _certain_values(alpha, beta_)
    drawn = np.flatnonzero(values == _DRAWN)
    if values.max() >= 1.0 or drawn.size == 0:
        return argmax_probabilities(values, of_arms(ranking, arms))
    law = np.zeros(values.size)
    law[drawn] = beta_argmax_probabilities(alpha[drawn], beta_[drawn])
    return law


@kernel
def _beta_of(
    total: np.ndarray, pulls: np.ndarray, arms: np.ndarray, zeros: int, ones: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ones and zeros of these arms, prior ones included."""
    alpha = of_arms(total, arms)
    return alpha + ones, of_arms(pulls, arms) - alpha + zeros


@kernel
def _certain_values(ones: np.ndarray, zeros: np.ndarray) -> np.ndarray:
    """Return infinity for arms without any entry, 1 or 0 where all are that, else `_DRAWN`."""
    values = np.full(ones.size, _DRAWN)
    for i in range(ones.size):
        if zeros[i] == 0.0:
            values[i] = 1.0 if ones[i] > 0.0 else np.inf
        elif ones[i] == 0.0:
            values[i] = 0.0
    return values
