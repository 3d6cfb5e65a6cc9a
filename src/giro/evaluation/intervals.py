"""Confidence intervals of a ratio of two sums over events."""

import math
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from giro.evaluation.estimators import Terms
from giro.kernels.draws.uniform import integers_below

Interval: TypeAlias = Literal["normal", "bootstrap", "bernstein"]

_RESAMPLES, _CHUNK = 1000, 2_000_000  # resamples, and counts drawn at once


class Estimate(NamedTuple):
    """An estimate with its uncertainty."""

    value: float
    se: float
    low: float
    high: float


def estimate(
    terms: Terms, *, level: float, interval: Interval, rng: np.random.Generator
) -> Estimate:
    """Return sum(numerator) / sum(denominator) with its standard error and confidence interval.

    The standard error is that of the delta method: residuals e = numerator - value * denominator
    have mean 0, and se = sd(e) / (sqrt(n) mean(denominator)). Intervals of level `level`:

    - normal: value ± z se, right when no few events carry the sum.
    - bootstrap: bootstrap-t (Efron and Tibshirani, 1993, Section 12.5) with 1000 resamples of
      events: (resampled value - value) / its se stands in for z, and is skewed as the weights are.
    - bernstein: empirical Bernstein bound (Maurer and Pontil, 2009, Theorem 4), for any sample
      size, from the largest weight there can be. Wide. Of a self-normalised estimate it bounds
      the residuals at the estimated value.
    """
    n = terms.numerator.size
    total = float(terms.denominator.sum())
    if total == 0.0:
        return Estimate(math.nan, math.nan, math.nan, math.nan)
    value = float(terms.numerator.sum()) / total
    residuals = terms.numerator - value * terms.denominator
    se = math.sqrt(float(residuals @ residuals) * n / (n - 1)) / total if n > 1 else math.nan
    if interval == "normal" or math.isnan(se):
        from scipy.special import ndtri  # noqa: PLC0415  # quick start without scipy

        below = above = float(ndtri((1.0 + level) / 2.0)) * se
    elif interval == "bernstein":  # sqrt(2 var ln(4/δ) / n) + 7 span ln(4/δ) / (3 (n - 1))
        mean, ln = float(terms.denominator.mean()), math.log(4.0 / (1.0 - level))
        below = above = se * math.sqrt(2.0 * ln) + 7.0 * terms.span * ln / (3.0 * (n - 1)) / mean
    else:
        ratios = _studentised(terms, value, rng)
        low, high = np.quantile(ratios, [(1 - level) / 2, (1 + level) / 2])
        below, above = float(high) * se, -float(low) * se
    return Estimate(value, se, value - below, value + above)


def _studentised(terms: Terms, value: float, rng: np.random.Generator) -> np.ndarray:
    """Return (resampled value - value) / resampled standard error, of resamples that have one."""
    a, b = terms.numerator - value * terms.denominator, terms.denominator
    n = a.size
    columns = np.column_stack([a, b, a * a, a * b, b * b])  # a has sum 0: no digits are lost
    chunk = max(1, _CHUNK // n)
    sums = [
        _counts(n, min(chunk, _RESAMPLES - begin), rng) @ columns
        for begin in range(0, _RESAMPLES, chunk)
    ]
    s_a, s_b, s_aa, s_ab, s_bb = np.concatenate(sums).T
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = s_a / s_b
        squares = s_aa - 2.0 * moved * s_ab + moved**2 * s_bb
        ratios = moved * s_b / np.sqrt(np.maximum(squares, 0.0) * n / (n - 1))
    known: np.ndarray = ratios[np.isfinite(ratios)]
    return known if known.size else np.zeros(1)


def _counts(n: int, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Return [resample, event] how often n draws with replacement take each of n events."""
    drawn = integers_below(n, resamples * n, rng) + n * np.repeat(np.arange(resamples), n)
    counts = np.bincount(drawn, minlength=resamples * n).reshape(resamples, n)
    return counts.astype(np.float64)
