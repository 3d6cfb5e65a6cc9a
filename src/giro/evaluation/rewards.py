"""Rewards in the units of a log, mapped to the [0, 1] that policies learn from."""

import math
from collections.abc import Sequence

import numpy as np

from giro.errors import BadParameter


def unit_rewards(rewards: np.ndarray, reward_range: Sequence[float] | None) -> np.ndarray:
    """Return (reward - low) / (high - low); without a range rewards have to lie in [0, 1]."""
    low, high = (0.0, 1.0) if reward_range is None else checked_range(reward_range)
    outside = np.flatnonzero((rewards < low) | (rewards > high))
    if outside.size:
        hint = "; say reward_range=(low, high)" if reward_range is None else ""
        raise BadParameter(
            f"event {outside[0] + 1} has the reward {rewards[outside[0]]}, "
            f"policies learn from rewards in [{low:g}, {high:g}]{hint}"
        )
    return (rewards - low) / (high - low)


def checked_range(reward_range: Sequence[float]) -> tuple[float, float]:
    """Return (low, high), or say what is wrong with it."""
    if len(reward_range) != 2 or not all(map(math.isfinite, reward_range)):
        raise BadParameter(f"reward_range is (low, high), got {tuple(reward_range)}")
    low, high = map(float, reward_range)
    if not low < high:
        raise BadParameter(f"reward_range needs low < high, got ({low:g}, {high:g})")
    return low, high
