"""Estimates of a mean with their uncertainty, from sums that are kept up to date or from arrays."""

import math
from typing import Any, NamedTuple

LEVEL = 0.95  # of an interval, unless another is asked for


class Estimate(NamedTuple):
    """An estimate with its uncertainty."""

    value: float
    se: float  # standard error
    low: float  # ends of the confidence interval
    high: float


def normal_estimate(value: float, se: float, level: float = LEVEL) -> Estimate:
    """Return an estimate with the interval value ± z se, right when no few events carry it."""
    from scipy.special import ndtri  # noqa: PLC0415  # quick start without scipy

    half = float(ndtri((1.0 + level) / 2.0)) * se
    return Estimate(value, se, value - half, value + half)


def ratio_error(squares: float, total: float, n: float) -> float:
    """Return the standard error of Σ a / Σ b by the delta method.

    `squares` is the sum of squared residuals a - (Σ a / Σ b) b, and `total` is Σ b; n events.
    """
    return math.sqrt(squares * n / (n - 1)) / total if n > 1 else math.nan


def wilson_estimate(successes: float, n: float, level: float = LEVEL) -> Estimate:
    """Return the share of successes among n trials, with Wilson's (1927) interval."""
    p = successes / n
    low, high = wilson_bounds(p, n, level)
    return Estimate(p, math.sqrt(p * (1 - p) / n), float(low), float(high))


def wilson_bounds(p: Any, n: Any, level: float = LEVEL) -> tuple[Any, Any]:
    """Return the ends of Wilson's interval for a share p among n trials, or for arrays of these."""
    z = normal_estimate(0.0, 1.0, level).high
    z2 = z * z
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * (p * (1 - p) / n + z2 / (4 * n * n)) ** 0.5
    return centre - half, centre + half


class WeightedMean:
    """Σ w r / Σ w over events and its standard error, kept up to date.

    Means and sums of squared distances follow each event (Welford 1962, West 1979), so that equal
    rewards have exactly their mean and an error of exactly 0.
    """

    __slots__ = ("mean", "n", "square_mean", "square_spread", "square_weight", "weight")

    def __init__(self) -> None:
        """Begin without events."""
        self.n = 0
        self.weight = self.mean = 0.0  # Σ w, and Σ w r / Σ w
        self.square_weight = self.square_mean = self.square_spread = 0.0  # the same with w²

    def add(self, weight: float, reward: float) -> None:
        """Take in an event."""
        self.n += 1
        if weight <= 0.0:
            return
        self.weight += weight
        self.mean += weight / self.weight * (reward - self.mean)
        square = weight * weight
        self.square_weight += square
        off = reward - self.square_mean
        self.square_mean += square / self.square_weight * off
        self.square_spread += square * off * (reward - self.square_mean)

    def estimate(self, level: float = LEVEL) -> Estimate | None:
        """Return the self-normalised estimate, or None without weight."""
        if self.weight <= 0.0:
            return None
        off = self.square_mean - self.mean
        squares = self.square_spread + self.square_weight * off * off
        return normal_estimate(self.mean, ratio_error(squares, self.weight, self.n), level)

    def to_json(self) -> list[float]:
        """Return plain data for `restored`."""
        return [getattr(self, name) for name in self.__slots__]

    @classmethod
    def restored(cls, plain: Any) -> "WeightedMean":
        """Return the mean described by plain data."""
        mean = cls()
        for name, value in zip(cls.__slots__, plain, strict=True):
            setattr(mean, name, value)
        return mean
