"""Judges of random draws: each states an exact law and fails a slightly wrong sampler.

The chance that a right sampler fails is ALPHA per judgement.
"""

from collections.abc import Sequence

import numpy as np
from scipy import stats

ALPHA = 1e-6
_FEWEST_EXPECTED = 5.0  # below this the chi-square law of the statistic is not to be trusted


def p_value_of_counts(counts: np.ndarray, probabilities: np.ndarray) -> float:
    """Return the chi-square p-value of counts under a law; rare outcomes are pooled."""
    expected = np.asarray(probabilities, float) * np.sum(counts)
    if np.any(np.asarray(counts)[expected == 0.0] > 0):
        return 0.0
    common = expected >= _FEWEST_EXPECTED
    seen = np.append(np.asarray(counts)[common], np.sum(np.asarray(counts)[~common]))
    wanted = np.append(expected[common], np.sum(expected[~common]))
    if wanted[-1] < _FEWEST_EXPECTED:  # too few to judge by themselves: join the smallest
        smallest = int(np.argmin(wanted[:-1]))
        seen[smallest] += seen[-1]
        wanted[smallest] += wanted[-1]
        seen, wanted = seen[:-1], wanted[:-1]
    if wanted.size == 1:
        return 1.0
    return float(stats.chisquare(seen, wanted * seen.sum() / wanted.sum()).pvalue)


def p_value_of_same_counts(first: np.ndarray, second: np.ndarray) -> float:
    """Return the chi-square p-value that two samples of outcomes share one law."""
    table = np.array([first, second], float)
    table = table[:, table.sum(axis=0) > 0]
    rare = (
        np.outer(table.sum(axis=1), table.sum(axis=0)).min(axis=0) / table.sum() < _FEWEST_EXPECTED
    )
    if rare.any():
        table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    if table.shape[1] < 2:
        return 1.0
    return float(stats.chi2_contingency(table, correction=False).pvalue)


def assert_follows(
    draws: Sequence[int] | np.ndarray, pmf: Sequence[float] | np.ndarray, alpha: float = ALPHA
) -> None:
    """Fail unless integer draws 0, 1, ... follow the probabilities `pmf`."""
    values = np.asarray(draws)
    counts = np.bincount(values.astype(np.int64), minlength=len(pmf))
    assert counts.size == len(pmf), f"draws up to {values.max()} but a law of {len(pmf)} outcomes"
    p_value = p_value_of_counts(counts, np.asarray(pmf))
    assert p_value > alpha, f"p = {p_value:.2g}: {counts} against {np.asarray(pmf) * counts.sum()}"


def assert_follows_cdf(draws: Sequence[float] | np.ndarray, cdf, alpha: float = ALPHA) -> None:
    """Fail unless real draws follow a continuous distribution function."""
    p_value = stats.kstest(np.asarray(draws), cdf).pvalue
    assert p_value > alpha, f"p = {p_value:.2g}"


def assert_same_law(
    first: Sequence[float] | np.ndarray, second: Sequence[float] | np.ndarray, alpha: float = ALPHA
) -> None:
    """Fail unless two samples of real numbers come from one law."""
    p_value = stats.ks_2samp(np.asarray(first), np.asarray(second)).pvalue
    assert p_value > alpha, f"p = {p_value:.2g}"
