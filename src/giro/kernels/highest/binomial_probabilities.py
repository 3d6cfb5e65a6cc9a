"""The probability of each arm to have the highest binomial value, by summing."""

import math

import numpy as np

from giro.compiling import kernel
from giro.kernels.highest.binomial_argmax import BinomialValues
from giro.kernels.highest.probabilities import Points, argmax_probabilities, winning_law
from giro.offer import of_arms

_NEGLIGIBLE = 1e-19  # a probability, relative to the largest, that is left out


def binomial_argmax_probabilities(
    values: BinomialValues, arms: np.ndarray, ranking: np.ndarray
) -> np.ndarray:
    """Return the probability [i] with which `binomial_argmax` returns each of these arms.

    The error is below 1e-12. Costs about sqrt(m) points for an arm whose value is a mean of m
    draws: what lies some ten standard deviations off, or below what some other arm certainly
    reaches, is left out.
    """
    bounds, variants = values.bounds[arms], values.variants[arms]
    ranking = of_arms(ranking, arms)
    centre = np.ascontiguousarray(bounds["centre"])
    if np.isinf(centre).any():
        return argmax_probabilities(centre, ranking)
    offset, n, p, m = (np.ascontiguousarray(variants[name]) for name in ("offset", "n", "p", "m"))
    points = _points(offset, n, p, m, np.ascontiguousarray(bounds["share"]))
    return winning_law(points, ranking)


@kernel
def _points(
    offset: np.ndarray, n: np.ndarray, p: np.ndarray, m: np.ndarray, share: np.ndarray
) -> Points:
    """Return every arm's points that matter; all arguments but share are [arm, variant]."""
    first, last = np.zeros(n.shape, np.int64), np.full(n.shape, -1)
    lowest = -np.inf
    for arm in range(share.size):
        its_lowest = np.inf
        for variant in range(2 if share[arm] > 0.0 else 1):
            low, high = binomial_range(n[arm, variant], p[arm, variant])
            first[arm, variant], last[arm, variant] = low, high
            its_lowest = min(its_lowest, (offset[arm, variant] + low) / m[arm, variant])
        lowest = max(lowest, its_lowest)
    size = (last - first + 1).sum()
    value, mass, owner = np.empty(size), np.empty(size), np.empty(size, np.int64)
    below = np.zeros(share.size)
    used = 0
    for arm in range(share.size):
        for variant in range(2 if share[arm] > 0.0 else 1):
            weight = share[arm] if variant == 1 else 1.0 - share[arm]
            low, high = first[arm, variant], last[arm, variant]
            chances = binomial_law(n[arm, variant], p[arm, variant], low, high)
            for i in range(chances.size):
                x = (offset[arm, variant] + (low + i)) / m[arm, variant]
                if x < lowest:
                    below[arm] += weight * chances[i]
                else:
                    value[used], mass[used], owner[used] = x, weight * chances[i], arm
                    used += 1
    return Points(value[:used], mass[:used], owner[:used], below)


@kernel
def binomial_range(n: int, p: float) -> tuple[int, int]:
    """Return the least and the greatest number of ones that are not negligible."""
    if p <= 0.0 or p >= 1.0:
        return (0, 0) if p <= 0.0 else (n, n)
    mode = min(n, math.floor((n + 1) * p))
    odds = p / (1.0 - p)
    low, chance = mode, 1.0
    while low > 0 and chance > _NEGLIGIBLE:
        chance *= low / ((n - low + 1) * odds)
        low -= 1
    high, chance = mode, 1.0
    while high < n and chance > _NEGLIGIBLE:
        chance *= (n - high) * odds / (high + 1)
        high += 1
    return low, high


@kernel
def binomial_law(n: int, p: float, low: int, high: int) -> np.ndarray:
    """Return the probabilities of low, ..., high ones, which sum to 1.

    Each follows from its neighbour, beginning at the largest: no large logarithms, no cancelling.
    """
    chances = np.ones(high - low + 1)
    if high == low:
        return chances
    mode = min(max(math.floor((n + 1) * p), low), high)
    odds = p / (1.0 - p)
    for k in range(mode, low, -1):
        chances[k - 1 - low] = chances[k - low] * k / ((n - k + 1) * odds)
    for k in range(mode, high):
        chances[k + 1 - low] = chances[k - low] * (n - k) * odds / (k + 1)
    return np.asarray(chances / chances.sum())
