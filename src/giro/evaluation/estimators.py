"""Estimators of a target's mean reward: ratios of two sums over events, and their intervals.

An estimator is a function of a `Question`, registered under its name by `estimator`.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from giro.errors import UnknownName
from giro.estimates import Estimate, normal_estimate, ratio_error
from giro.evaluation.log import Log
from giro.evaluation.reward_model import fitted_rewards
from giro.evaluation.target import Learning, Target, target_of
from giro.kernels.draws.uniform import integers_below

INTERVALS: Final = ("normal", "bootstrap", "bernstein")

_FEW_EVENTS, _SMALL_SHARE = 100, 0.01  # of the effective sample below which a note warns
_FAR = 5.0  # standard errors of the mean weight from 1 above which a note warns
_ROUNDING = 1e-6
_RESAMPLES, _CHUNK = 1000, 2_000_000  # resamples, and counts drawn at once


class Weights(NamedTuple):
    """The importance weights of the events, their bound and their mean."""

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
    """Return remarks on the weights that a reader of the estimates needs."""
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


class Sample(NamedTuple):
    """The events that an estimate is made of."""

    policy: str
    events: int
    effective: float  # equal events that would be as good
    largest: float  # weight of an event
    clipped: int = 0  # weights that were cut
    notes: tuple[str, ...] = ()


class Terms(NamedTuple):
    """The estimate is sum(numerator) / sum(denominator)."""

    numerator: np.ndarray  # [event]
    denominator: np.ndarray  # [event]
    span: float  # between the largest and smallest numerator - value * denominator there can be
    sample: Sample


class Question:
    """A log and a policy, and everything that estimators need of them, computed on demand."""

    def __init__(
        self,
        log: Log,
        policy: Any,
        learning: Learning,
        *,
        clip: float | None = None,
        folds: int | None = None,
        model: Any = None,
        predicted: np.ndarray | None = None,
    ) -> None:
        """Ask how much the policy would have earned on the log."""
        self.log, self.policy, self.learning = log, policy, learning
        self._clip, self._folds, self._model, self._predicted = clip, folds, model, predicted

    @functools.cached_property
    def target(self) -> Target:
        """The policy's probabilities in every event."""
        return target_of(self.policy, self.log, self.learning)

    @functools.cached_property
    def weights(self) -> Weights:
        """The weights of the events."""
        return weights_of(self.target, self.log, self._clip)

    @functools.cached_property
    def predicted(self) -> np.ndarray:
        """The reward that a model expects, [event, arm], which has not seen the event."""
        if self._predicted is not None:
            return self._predicted
        return fitted_rewards(self.log, self._folds, self._model)

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest reward there can be."""
        rewards = self.log.reward
        return self.learning.reward_range or (float(rewards.min()), float(rewards.max()))

    def weighted(self, numerator: np.ndarray, denominator: np.ndarray, span: float) -> Terms:
        """Return terms of all events with their weights."""
        weights, target = self.weights, self.target
        notes = (*notes_on(weights), *([target.note] if target.note else []))
        if weights.effective == 0.0:
            denominator = np.zeros(self.log.events)
        largest = float(weights.each.max())
        sample = Sample(
            target.name, self.log.events, weights.effective, largest, weights.clipped, notes
        )
        return Terms(numerator, denominator, span, sample)


Estimator: TypeAlias = Callable[[Question], Terms]
ESTIMATORS: dict[str, Estimator] = {}


def estimator(name: str) -> Callable[[Estimator], Estimator]:
    """Register an estimator under a name."""

    def registered(function: Estimator) -> Estimator:
        ESTIMATORS[name] = function
        return function

    return registered


def estimator_named(name: str) -> Estimator:
    """Return the estimator of this name."""
    if name not in ESTIMATORS:
        raise UnknownName("estimator", name, known=ESTIMATORS)
    return ESTIMATORS[name]


@estimator("ips")
def ips(question: Question) -> Terms:
    """Inverse propensity score (Horvitz and Thompson, 1952): the mean of weight times reward."""
    weights, (low, high) = question.weights, question.range
    edges = (0.0, weights.bound * low, weights.bound * high)
    numerator = weights.each * question.log.reward
    return question.weighted(numerator, np.ones(numerator.size), max(edges) - min(edges))


@estimator("snips")
def snips(question: Question) -> Terms:
    """Self-normalised (Swaminathan and Joachims, 2015, Section 4): weighted mean of rewards."""
    weights, (low, high) = question.weights, question.range
    numerator = weights.each * question.log.reward
    return question.weighted(numerator, weights.each, weights.bound * (high - low))


@estimator("dr")
def dr(question: Question) -> Terms:
    """Doubly robust (Dudík et al., 2011, Equation 1): a model's rewards, corrected by IPS.

    Unbiased as IPS is, with a smaller error the better the model. The model of an event has not
    seen that event.
    """
    log, weights, model = question.log, question.weights, question.predicted
    expected = np.sum(question.target.probabilities * model, axis=1)
    surprise = log.reward - model[np.arange(log.events), log.arm]
    low, high = question.range
    low, high = min(low, float(model.min())), max(high, float(model.max()))
    span = (high - low) * (1.0 + 2.0 * weights.bound)
    numerator = expected + weights.each * surprise
    return question.weighted(numerator, np.ones(numerator.size), span)


# -- intervals -------------------------------------------------------------------------------------


def ratio_estimate(
    terms: Terms, *, level: float, interval: str, rng: np.random.Generator
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
    se = ratio_error(float(residuals @ residuals), total, n)
    if interval == "normal" or math.isnan(se):
        return normal_estimate(value, se, level)
    if interval == "bernstein":  # sqrt(2 var ln(4/δ) / n) + 7 span ln(4/δ) / (3 (n - 1))
        mean, ln = float(terms.denominator.mean()), math.log(4.0 / (1.0 - level))
        half = se * math.sqrt(2.0 * ln) + 7.0 * terms.span * ln / (3.0 * (n - 1)) / mean
        return Estimate(value, se, value - half, value + half)
    low, high = np.quantile(_studentised(terms, value, rng), [(1 - level) / 2, (1 + level) / 2])
    return Estimate(value, se, value - float(high) * se, value - float(low) * se)


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
