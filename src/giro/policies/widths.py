"""Parameters that the policies with a confidence width share."""

import math

from giro.errors import BadParameter

NOISE = 0.5  # rewards in [0, 1] are sub-Gaussian with this R or sigma (Hoeffding, 1963)


def check_penalty(policy: str, penalty: float) -> None:
    """Refuse a penalty without which few contexts would have no fit."""
    if not 0.0 < penalty < math.inf:
        raise BadParameter(f"{policy} needs a finite penalty > 0, got penalty={penalty}")


def check_delta(policy: str, delta: float) -> None:
    """Refuse what is not the probability of a rare failure."""
    if not 0.0 < delta < 1.0:
        raise BadParameter(f"{policy} needs 0 < delta < 1, got delta={delta}")


def check_norm(policy: str, norm: float) -> None:
    """Refuse what cannot be the length of an arm's parameters."""
    if not 0.0 <= norm < math.inf:
        raise BadParameter(f"{policy} needs a finite norm >= 0, got norm={norm}")


def check_scale(policy: str, scale: float | None) -> None:
    """Refuse a width that is neither a number nor left to theory."""
    if scale is not None and not 0.0 <= scale < math.inf:
        raise BadParameter(f"{policy} needs a finite scale >= 0 or none, got scale={scale}")


def logistic_slope(score: float) -> float:
    """Return the derivative of 1 / (1 + exp(-score)), which falls on both sides of 0.

    >>> logistic_slope(0.0)
    0.25
    """
    e = math.exp(-abs(score))
    return e / (1.0 + e) ** 2
