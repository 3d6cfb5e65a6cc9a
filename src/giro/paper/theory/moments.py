"""Moments of a history with pseudo rewards and of its bootstrap sample.

Kveton et al. (2019), Section 4.2. Everywhere `s` is the number of pulls, `a` the pseudo rewards
of each kind per pull, alpha = 2a + 1; V counts the ones in the history, U those in the sample.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from giro.errors import BadParameter
from giro.paper.theory.terms import (
    Check,
    Floats,
    check_at_least,
    check_equals,
    check_trials,
    log_binomial,
    whole_pseudo_count,
)


class Moments(NamedTuple):
    """The mean and the variance of a random number."""

    mean: float
    variance: float


def history_moments(s: int, mean: float, a: float) -> Moments:
    """Return the moments of V: (mean + a) s and mean (1 - mean) s (Equation 4)."""
    check_trials(s, mean)
    return Moments((mean + a) * s, mean * (1 - mean) * s)


def bootstrap_moments(s: int, v: float, a: float) -> Moments:
    """Return the moments of U given V = v: v and v (1 - v / (alpha s)) (Equations 5 and 6)."""
    if not 0 <= v <= (2 * a + 1) * s:
        raise BadParameter(f"a history of {(2 * a + 1) * s} rewards cannot have v={v} ones")
    return Moments(v, v * (1 - v / ((2 * a + 1) * s)))


def history_mean_moments(s: int, mean: float, a: float) -> Moments:
    """Return the moments of V / (alpha s), the mean reward in the history."""
    return _scaled(history_moments(s, mean, a), (2 * a + 1) * s)


def conditional_value_moments(s: int, v: float, a: float) -> Moments:
    """Return the moments of the arm's value U / (alpha s) given V = v."""
    return _scaled(bootstrap_moments(s, v, a), (2 * a + 1) * s)


def value_moments(s: int, mean: float, a: float) -> Moments:
    """Return the moments of the arm's value U / (alpha s) over histories and samples alike.

    The variance of U is E[V (1 - V / (alpha s))] + var V, by the law of total variance; the paper
    gives the two parts only.
    """
    history = history_moments(s, mean, a)
    length = (2 * a + 1) * s
    within = history.mean - (history.variance + history.mean**2) / length
    return _scaled(Moments(history.mean, within + history.variance), length)


def smallest_value_variance(s: int, a: float) -> float:
    """Return a (a + 1) / (alpha^3 s), which the value's variance given V never falls below."""
    check_trials(s, 0.5)
    return a * (a + 1) / ((2 * a + 1) ** 3 * s)


def largest_history_variance(s: int, a: float) -> float:
    """Return 1 / (4 alpha^2 s), which the variance of V / (alpha s) never exceeds."""
    check_trials(s, 0.5)
    return 1 / (4 * (2 * a + 1) ** 2 * s)


def moment_checks(s: int, mean: float, a: float) -> list[Check]:
    """Return every formula above next to the sum over all outcomes that it stands for.

    Needs a s to be an integer. Costs one term for each history and sample.
    """
    check_trials(s, mean)
    k = whole_pseudo_count(a, s)
    v, weights = k + np.arange(s + 1), np.exp(log_binomial(np.arange(s + 1), s, mean))
    length, floor = s + 2 * k, smallest_value_variance(s, a)
    outcomes = np.arange(length + 1)
    at = {"s": s, "mean": mean, "a": a}
    checks = _both("history", _summed(weights, v), history_moments(s, mean, a), at)
    samples = []
    for ones in v.tolist():
        chances = np.exp(log_binomial(outcomes, length, ones / length))
        samples.append(_summed(chances, outcomes))
        checks += _both("sample", samples[-1], bootstrap_moments(s, ones, a), {**at, "v": ones})
        variance = conditional_value_moments(s, ones, a).variance
        checks.append(check_at_least("smallest variance", variance, floor, s=s, a=a, v=ones))
    whole = float(weights @ np.array([sample.mean for sample in samples]))
    squares = np.array([sample.variance + sample.mean**2 for sample in samples])
    mixed = Moments(whole, float(weights @ squares) - whole**2)
    return checks + _both("value", _scaled(mixed, length), value_moments(s, mean, a), at)


def _both(claim: str, summed: Moments, formula: Moments, at: dict[str, float]) -> list[Check]:
    return [
        check_equals(f"{claim} mean", summed.mean, formula.mean, **at),
        check_equals(f"{claim} variance", summed.variance, formula.variance, **at),
    ]


def _summed(weights: Floats, outcomes: NDArray[np.int64]) -> Moments:
    mean = float(weights @ outcomes)
    return Moments(mean, float(weights @ (outcomes - mean) ** 2))


def _scaled(moments: Moments, length: float) -> Moments:
    return Moments(moments.mean / length, moments.variance / length**2)
