"""Draws against scipy's laws, by chi-square over bins of about equal probability."""

from typing import Any

import numpy as np
from laws import ALPHA, p_value_of_counts

_BINS = 100
_LARGEST = 1.0 - 1e-12  # beyond, numbers below 1 are too far from each other to cut a law there


def p_value(draws: np.ndarray, law: Any) -> float:
    """Return the p-value of draws of whole numbers or not; ends of bins belong to the lower one."""
    ends = np.unique(law.ppf(np.arange(1, _BINS) / _BINS))
    if law.support()[1] == 1.0 and not hasattr(law.dist, "pmf"):
        ends = ends[ends < _LARGEST]
    counts = np.bincount(np.searchsorted(ends, draws, side="left"), minlength=ends.size + 1)
    chances = np.diff(np.concatenate([[0.0], law.cdf(ends), [1.0]]))
    return p_value_of_counts(counts, chances)


def assert_law(draws: np.ndarray, law: Any) -> None:
    """Fail unless the draws follow the law."""
    assert p_value(draws, law) > ALPHA


def assert_other_law(draws: np.ndarray, law: Any) -> None:
    """Fail unless it shows that the draws do not follow the law."""
    assert p_value(draws, law) < ALPHA
