"""Pseudo rewards: how many go with s rewards, and how often each is in a bootstrap sample.

Kveton et al. (2019): a history holds, for each of s rewards, `a` pseudo rewards of each kind, 0 and
1. A bootstrap sample of it is as long as the history, and says of each entry how often it is drawn,
contexts and all.
"""

import math

import numpy as np

from giro.compiling import kernel

_ROUNDING = 1e-12  # relative error of a product that still counts as whole: 3 * (1/3) is 1
REAL, ONE, ZERO = 0, 1, 2  # columns of the counts: the observed reward, and the pseudo rewards


@kernel
def pseudo_count_distribution(a: float, s: int) -> tuple[int, float]:
    """Return floor(a s), and the probability with which ceil(a s) is taken instead.

    Kveton et al. (2019), Section 6.1: the history with ceil(a s) pseudo rewards of each kind is
    used with probability a s - floor(a s), the one with floor(a s) otherwise.
    """
    product = a * s
    nearest = math.floor(product + 0.5)
    if abs(product - nearest) <= _ROUNDING * product:
        return int(nearest), 0.0
    below = math.floor(product)
    return int(below), product - below


@kernel
def pseudo_count(a: float, s: int, rng: np.random.Generator) -> int:
    """Return floor(a s) or ceil(a s), drawn as `pseudo_count_distribution` says."""
    below, share = pseudo_count_distribution(a, s)
    if share > 0.0 and rng.random() < share:
        return below + 1
    return below


@kernel
def draw_counts(counts: np.ndarray, a: float, rng: np.random.Generator) -> None:
    """Set counts[i] to how often the i-th context is drawn with its reward, with 1 and with 0.

    Kveton et al. (2019), Algorithm 3: as many draws with replacement as the history has entries,
    which are, for each of s contexts, the observed reward and `a` pseudo rewards of each kind. With
    real a there are k = floor(a s) or ceil(a s) of each kind (see `pseudo_count`); each draw of one
    of them is at a context drawn uniformly, which for whole a is the same.
    """
    s = counts.shape[0]
    k = pseudo_count(a, s, rng)
    counts[:] = 0
    share = s / k if k > 0 else 0.0
    begin, stretch = np.array([0.0, s, s + k]), np.array([1.0, share, share])
    for _ in range(s + 2 * k):
        position = rng.random() * (s + 2 * k)
        kind = int(position >= s) + int(position >= s + k)
        i = int((position - begin[kind]) * stretch[kind])
        counts[min(i, s - 1), kind] += 1


@kernel
def weights_and_totals(
    counts: np.ndarray, rewards: np.ndarray, positions: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each context, how often it was drawn and the sum of its rewards."""
    s = counts.shape[0]
    weight, total = np.empty(s), np.empty(s)
    for i in range(s):
        weight[i] = counts[i, REAL] + counts[i, ONE] + counts[i, ZERO]
        total[i] = counts[i, REAL] * rewards[positions[i]] + counts[i, ONE]
    return weight, total
