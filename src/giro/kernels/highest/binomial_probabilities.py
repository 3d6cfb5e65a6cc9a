"""The probability of each arm to have the highest binomial value, by summing."""

import math

import numpy as np

from giro.compiling import kernel
from giro.kernels.highest.binomial_argmax import BinomialValues
from giro.kernels.highest.probabilities import Points, argmax_probabilities, winning_law
from giro.offer import of_arms

_RARE = 42.0  # what has a probability below e^-42, 6e-19, is left out


@kernel
def binomial_argmax_probabilities(
    values: BinomialValues, arms: np.ndarray, ranking: np.ndarray
) -> np.ndarray:
    """Return the probability [i] with which `binomial_argmax` returns each of these arms.

    The error is below 1e-12. Costs about sqrt(m) points for an arm whose value is a mean of m
    draws: what lies some ten standard deviations off, or below what some other arm certainly
    reaches, is left out.
    """
    ranking, top = of_arms(ranking, arms), np.empty(arms.size)
    floor, size = -np.inf, 0
    for i in range(arms.size):
        low, top[i], n = _reach(values, arms[i])
        size += n
        floor = max(floor, low)  # which some arm reaches for sure
    if floor == np.inf or (top >= floor).sum() == 1:  # an untried arm, or one that has no rival
        return argmax_probabilities(top, ranking)
    return winning_law(_points(values, arms, top, floor, size), arms.size, ranking)


@kernel
def _reach(values: BinomialValues, arm: int) -> tuple[float, float, int]:
    """Return the least and the greatest value of an arm that count, and how many do."""
    bound, low, high, n = values.bounds[arm], np.inf, -np.inf, 0
    if bound.centre == np.inf:
        return np.inf, np.inf, 1
    for variant in range(2 if bound.share > 0.0 else 1):
        its = values.variants[arm, variant]
        first, last = binomial_range(its.n, its.p)
        low = min(low, (its.offset + first) / its.m)
        high = max(high, (its.offset + last) / its.m)
        n += last - first + 1
    return low, high, n


@kernel
def _points(
    values: BinomialValues, arms: np.ndarray, top: np.ndarray, floor: float, size: int
) -> Points:
    """Return what the arms' values can be from the floor on; there are `size` of them at most."""
    value, mass, owner, n = np.empty(size), np.empty(size), np.empty(size, np.int64), 0
    for i in range(arms.size):
        share = values.bounds[arms[i]].share
        for variant in range(2 if share > 0.0 else 1):
            if top[i] < floor:
                break
            its, weight = values.variants[arms[i], variant], share if variant == 1 else 1.0 - share
            low, high = binomial_range(its.n, its.p)
            chances = binomial_law(its.n, its.p, low, high)
            for j in range(chances.size - 1, -1, -1):
                x = (its.offset + (low + j)) / its.m
                if x < floor:
                    break
                value[n], mass[n], owner[n] = x, weight * chances[j], i
                n += 1
    return Points(value[:n], mass[:n], owner[:n], 1.0)


@kernel
def binomial_range(n: int, p: float) -> tuple[int, int]:
    """Return the least and the greatest number of ones that are not negligible.

    By the inequality of Bernstein (1924) for sums of bounded variables.
    """
    if p <= 0.0 or p >= 1.0:
        return (0, 0) if p <= 0.0 else (n, n)
    reach = _RARE / 3.0 + math.sqrt(_RARE * (_RARE / 9.0 + 2.0 * n * p * (1.0 - p)))
    return max(0, math.floor(n * p - reach)), min(n, math.ceil(n * p + reach))


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
    for k in range(low, mode):  # first all ratios, which do not wait for each other
        chances[k - low] = (k + 1) / ((n - k) * odds)
    for k in range(mode, high):
        chances[k - low + 1] = (n - k) * odds / (k + 1)
    for i in range(mode - low - 1, -1, -1):
        chances[i] *= chances[i + 1]
    for i in range(mode - low + 1, chances.size):
        chances[i] *= chances[i - 1]
    return np.asarray(chances / chances.sum())
