"""Estimates of a target's mean reward: each is a ratio of two sums over events."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from giro.evaluation.log import Log
from giro.evaluation.reward_model import fitted_rewards
from giro.evaluation.target import Target

_FEW_EVENTS, _SMALL_SHARE = 100, 0.01  # of the effective sample below which a note warns
_FAR = 5.0  # standard errors of the mean weight from 1 above which a note warns
_ROUNDING = 1e-6


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
    folds: int | None
    predicted: np.ndarray | None  # [event, arm] rewards expected by a model of the caller's
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
    log, w = given.log, given.weights.each
    model = fitted_rewards(log, given.folds) if given.predicted is None else given.predicted
    expected = np.sum(given.target.probabilities * model, axis=1)
    surprise = log.reward - model[np.arange(log.events), log.arm]
    low, high = min(given.low, float(model.min())), max(given.high, float(model.max()))
    span = (high - low) * (1.0 + 2.0 * given.weights.bound)
    return Terms(expected + w * surprise, np.ones(w.size), span)


ESTIMATORS: dict[str, Callable[[Inputs], Terms]] = {"ips": ips, "snips": snips, "dr": dr}
