"""Estimates of a target's mean reward: each is a ratio of two sums over events."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from giro.evaluation.log import Log
from giro.evaluation.reward_model import fitted_rewards
from giro.evaluation.target import Target
from giro.evaluation.weights import Weights


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
