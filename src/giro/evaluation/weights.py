"""Importance weights: how much more often the target chooses the logged arm than the log did."""

from typing import NamedTuple

import numpy as np

from giro.evaluation.log import Log
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
        known = log.probability if log.probabilities is None else _positive(log.probabilities)
        return Weights(raw, float(1.0 / known.min()), 0, float(raw.mean()), se)
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


def _positive(probabilities: np.ndarray) -> np.ndarray:
    return probabilities[probabilities > 0.0]
