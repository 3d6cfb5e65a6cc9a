"""How many pseudo rewards of each kind an arm's history holds when `a` is any real number."""

import math
from typing import NamedTuple

from giro.errors import BadParameter

ROUNDING = 1e-9  # closer to an integer than this, relative to max(1, value), is that integer


class PseudoCounts(NamedTuple):
    """The two histories of an arm: with `floor` and with `ceil` pseudo rewards of each kind."""

    floor: int
    ceil: int
    probability_of_ceil: float


def pseudo_counts(a: float, s: int) -> PseudoCounts:
    """Return floor(a s), ceil(a s) and the probability a s - floor(a s) of the latter.

    Kveton et al. (2019), Section 6.1. A product as near to an integer as rounding explains is
    that integer, and then floor and ceil are the same:

    >>> pseudo_counts(1 / 3, 3)
    PseudoCounts(floor=1, ceil=1, probability_of_ceil=0.0)
    >>> pseudo_counts(0.5, 3)
    PseudoCounts(floor=1, ceil=2, probability_of_ceil=0.5)
    """
    check_pseudo_rewards(a)
    exact = a * s
    if is_whole(exact):
        return PseudoCounts(round(exact), round(exact), 0.0)
    floor = math.floor(exact)
    return PseudoCounts(floor, floor + 1, exact - floor)


def whole_pseudo_count(a: float, s: int) -> int:
    """Return a s where it is an integer, as most formulas of the paper take for granted."""
    counts = pseudo_counts(a, s)
    if counts.floor != counts.ceil:
        raise BadParameter(
            f"this formula needs a * s to be an integer, got a={a}, s={s}, a * s={a * s}"
        )
    return counts.floor


def check_pseudo_rewards(a: float) -> None:
    """Check that a >= 0 is finite."""
    if not (math.isfinite(a) and a >= 0):
        raise BadParameter(f"the pseudo rewards per reward must be a >= 0, got a={a}")


def is_whole(value: float) -> bool:
    """Tell whether a value differs from an integer by rounding only."""
    return abs(value - round(value)) <= ROUNDING * max(1.0, abs(value))


def rounded_up(value: float) -> int:
    """Return the smallest integer >= value, where a value that rounding lifted is not lifted more.

    >>> rounded_up(10 * (0.1 + 0.2)), rounded_up(3.1)
    (3, 4)
    """
    return round(value) if is_whole(value) else math.ceil(value)
