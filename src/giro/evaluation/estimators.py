"""Estimates of a target's mean reward, ratios of two sums over events, and their intervals."""

import math
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from giro.evaluation.log import Log
from giro.evaluation.target import Target
from giro.kernels.draws.uniform import integers_below

Interval: TypeAlias = Literal["normal", "bootstrap", "bernstein"]

_FEW_EVENTS, _SMALL_SHARE = 100, 0.01  # of the effective sample below which a note warns
_FAR = 5.0  # standard errors of the mean weight from 1 above which a note warns
_ROUNDING = 1e-6
_RESAMPLES, _CHUNK = 1000, 2_000_000  # resamples, and counts drawn at once


class Weights(NamedTuple):
    """Importance weights of the events and what is known about them."""

    each: np.ndarray  # [event]
    bound: float  # which no weight can exceed but by rounding
    clipped: int  # how many were cut to it
    mean: float  # before clipping
    mean_se: float

    @property
    def effective(self) -> float:
        """The effective sample size (Kish, 1965, Section 11.7): (sum w)² / sum w²."""
        squares = float(np.sum(self.each**2))
        return float(np.sum(self.each)) ** 2 / squares if squares > 0.0 else 0.0


def weights_of(target: Target, log: Log, clip: float | None) -> Weights:
    """Return target probability / logged probability, at most `clip`."""
    raw = target.logged / log.probability
    se = float(raw.std(ddof=1) / np.sqrt(raw.size)) if raw.size > 1 else float("nan")
    if clip is None:
        known = log.probability if log.probabilities is None else log.probabilities
        return Weights(raw, float(1.0 / known[known > 0.0].min()), 0, float(raw.mean()), se)
    return Weights(np.minimum(raw, clip), clip, int(np.sum(raw > clip)), float(raw.mean()), se)


def notes_on(weights: Weights) -> list[str]:
    """Return what a reader of the estimates has to know about the weights."""
    n, notes = weights.each.size, []
    if weights.clipped:
        notes.append(f"{weights.clipped} of {n} weights clipped at {weights.bound:g}: biased")
    if weights.effective == 0.0:
        return [*notes, "the policy never chooses the logged arm: nothing is known"]
    if weights.effective < max(_FEW_EVENTS, _SMALL_SHARE * n):
        notes.append(
            f"as good as only {weights.effective:.0f} events: the interval may be too short"
        )
    if abs(weights.mean - 1.0) > _FAR * weights.mean_se + _ROUNDING:
        notes.append(
            f"weights average {weights.mean:.2f}, not 1: the logged probabilities are wrong, or "
            "the policy chooses arms that the log never does"
        )
    return notes


class Terms(NamedTuple):
    """The estimate is sum(numerator) / sum(denominator)."""

    numerator: np.ndarray  # [event]
    denominator: np.ndarray  # [event]
    span: float  # between the largest and smallest numerator - value * denominator there can be


class Inputs(NamedTuple):
    """What estimators work with."""

    log: Log
    target: Target
    weights: Weights
    predicted: np.ndarray | None  # [event, arm] rewards that a model expects, for DR
    low: float  # of rewards
    high: float


def ips(given: Inputs) -> Terms:
    """Inverse propensity score (Horvitz and Thompson, 1952): the mean of weight times reward."""
    w, r = given.weights.each, given.log.reward
    edges = (0.0, given.weights.bound * given.low, given.weights.bound * given.high)
    return Terms(w * r, np.ones(w.size), max(edges) - min(edges))


def snips(given: Inputs) -> Terms:
    """Self-normalised (Swaminathan and Joachims, 2015, Section 4): weighted mean of rewards."""
    w, r = given.weights.each, given.log.reward
    return Terms(w * r, w, given.weights.bound * (given.high - given.low))


def dr(given: Inputs) -> Terms:
    """Doubly robust (Dudík et al., 2011, Equation 1): a model's rewards, corrected by IPS.

    Unbiased as IPS is, with a smaller error the better the model. The model of an event has not
    seen that event.
    """
    log, w, model = given.log, given.weights.each, given.predicted
    assert model is not None
    expected = np.sum(given.target.probabilities * model, axis=1)
    surprise = log.reward - model[np.arange(log.events), log.arm]
    low, high = min(given.low, float(model.min())), max(given.high, float(model.max()))
    span = (high - low) * (1.0 + 2.0 * given.weights.bound)
    return Terms(expected + w * surprise, np.ones(w.size), span)


ESTIMATORS: dict[str, Callable[[Inputs], Terms]] = {"ips": ips, "snips": snips, "dr": dr}


# -- intervals -------------------------------------------------------------------------------------


class RatioEstimate(NamedTuple):
    """An estimate with its uncertainty."""

    value: float
    se: float
    low: float
    high: float


def ratio_estimate(
    terms: Terms, *, level: float, interval: Interval, rng: np.random.Generator
) -> RatioEstimate:
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
        return RatioEstimate(math.nan, math.nan, math.nan, math.nan)
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
    return RatioEstimate(value, se, value - below, value + above)


def _studentised(terms: Terms, value: float, rng: np.random.Generator) -> np.ndarray:
    """Return (resampled value - value) / resampled standard error, of resamples that have one."""
    a, b = terms.numerator - value * terms.denominator, terms.denominator
    n = a.size
    columns = np.column_stack([a, b, a * a, a * b, b * b])  # a has sum 0: no digits are lost
    chunk = max(1, _CHUNK // n)
    sums = []
    for begin in range(0, _RESAMPLES, chunk):
        k = min(chunk, _RESAMPLES - begin)
        drawn = integers_below(n, k * n, rng) + n * np.repeat(np.arange(k), n)
        counts = np.bincount(drawn, minlength=k * n).reshape(k, n)  # [resample, event]
        sums.append(counts.astype(np.float64) @ columns)
    s_a, s_b, s_aa, s_ab, s_bb = np.concatenate(sums).T
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = s_a / s_b
        squares = s_aa - 2.0 * moved * s_ab + moved**2 * s_bb
        ratios = moved * s_b / np.sqrt(np.maximum(squares, 0.0) * n / (n - 1))
    known: np.ndarray = ratios[np.isfinite(ratios)]
    return known if known.size else np.zeros(1)
