"""The gaps of a bandit problem, and the means that the paper's statements accept."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from giro.errors import BadParameter


class SuboptimalArm(NamedTuple):
    """An arm that is not the best one; arms are counted from 0."""

    arm: int
    mean: float
    gap: float


def checked_means(means: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the means of one arm or more as an array; each must lie in [0, 1]."""
    checked = np.asarray(means, dtype=np.float64)
    if checked.ndim != 1 or checked.size == 0:
        raise BadParameter(f"means must be a list with one number an arm, got {means!r}")
    if not np.all((checked >= 0) & (checked <= 1)):
        raise BadParameter(f"means must lie in [0, 1], got {checked.tolist()}")
    return checked


def suboptimal_arms(means: Sequence[float] | NDArray[np.float64]) -> list[SuboptimalArm]:
    """Return every arm but the best, which has to be the only best one.

    Kveton et al. (2019), Section 2; there the best arm comes first, here it may stand anywhere.
    """
    checked = checked_means(means)
    best = float(checked.max())
    if np.count_nonzero(checked == best) > 1:
        raise BadParameter(f"the best arm must be the only one with its mean, got {means!r}")
    return [
        SuboptimalArm(arm, float(mean), best - float(mean))
        for arm, mean in enumerate(checked)
        if mean < best
    ]


def check_rounds(rounds: int, *, at_least: int = 1) -> None:
    """Check rounds >= at_least."""
    if rounds < at_least:
        raise BadParameter(f"rounds must be >= {at_least}, got rounds={rounds}")
