"""The exact probabilities with which a policy pulls each arm next, given Bernoulli histories.

`ChoiceProbabilities` is a function of `pulls[arm]` and `ones[arm]`. Values are compared as
fractions over a common denominator, so that ties are exact. `giro.kernels.highest.probabilities`
computes the same much faster, in floating point. This file is independent of it, slow and literal,
so that tests can compare the two.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

from giro.checks import check, whole
from giro.errors import BadParameter
from giro.paper.theory.terms import Floats, check_pseudo_rewards, pseudo_counts

Integers = NDArray[np.int64]
ChoiceProbabilities = Callable[[ArrayLike, ArrayLike], Floats]

_FITS_INT64 = 2**62


class _Values(NamedTuple):
    """The values an arm can take, sum / length, and their probabilities. One may occur twice."""

    sums: Integers
    lengths: Integers
    probabilities: Floats


def giro_probabilities(
    a: float = 1.0, *, ranking: Sequence[int] | None = None
) -> ChoiceProbabilities:
    """Return Giro's probability of pulling each arm, for any real a >= 0.

    Kveton et al. (2019), Algorithm 2, with the two histories of Section 6.1 for real `a`. Ties are
    broken uniformly, or by the `ranking` of all arms (Section 3.1: a rule drawn in advance). Arms
    never pulled tie with each other at +infinity.

    >>> giro_probabilities(1)([1, 1], [0, 1]).round(6).tolist()
    [0.209877, 0.790123]
    """
    check_pseudo_rewards(a)
    _check_ranking(ranking)
    return partial(_of_giro, a, ranking)


def bootstrap_probabilities(
    pulls: int = 1, *, ranking: Sequence[int] | None = None
) -> ChoiceProbabilities:
    """Return the probabilities of bootstrapping without pseudo rewards (Section 3.1).

    Each arm is first pulled `pulls` times, the first arm before the second. Then the arm with the
    highest mean in a bootstrap sample of its history is pulled. Ties are broken as in
    `giro_probabilities`.
    """
    check("bootstrapping", whole(1), pulls=pulls)
    _check_ranking(ranking)
    return partial(_of_bootstrap, pulls, ranking)


def _of_bootstrap(
    first: int, ranking: Sequence[int] | None, pulls: ArrayLike, ones: ArrayLike
) -> Floats:
    waiting = np.flatnonzero(np.asarray(pulls) < first)
    if waiting.size == 0:
        return _of_giro(0.0, ranking, pulls, ones)
    probabilities = np.zeros(np.size(pulls))
    probabilities[waiting[0]] = 1.0
    return probabilities


def _of_giro(a: float, ranking: Sequence[int] | None, pulls: ArrayLike, ones: ArrayLike) -> Floats:
    histories = _checked_histories(pulls, ones)
    mass = _mass([_values(a, s, v) for s, v in histories])
    if ranking is None:
        return _winning_at_random(mass)
    if len(ranking) != len(histories):
        raise BadParameter(f"the ranking {tuple(ranking)} must name all {len(histories)} arms")
    return _winning_by_rank(mass, ranking)


@lru_cache(maxsize=100_000)
def _values(a: float, s: int, ones: int) -> _Values:
    """Return the values of an arm after `s` pulls with `ones` rewards of 1 and the others 0."""
    if s == 0:
        return _Values(np.ones(1, np.int64), np.zeros(1, np.int64), np.ones(1))  # 1/0: +infinity
    counts = pseudo_counts(a, s)
    floor = _resampled(s, ones, counts.floor, 1 - counts.probability_of_ceil)
    if counts.floor == counts.ceil:
        return floor
    ceil = _resampled(s, ones, counts.ceil, counts.probability_of_ceil)
    return _Values(*(np.concatenate(pair) for pair in zip(floor, ceil, strict=True)))


def _resampled(s: int, ones: int, k: int, weight: float) -> _Values:
    m = s + 2 * k
    sums = np.arange(m + 1)
    probabilities = weight * binom.pmf(sums, m, (ones + k) / m)
    return _Values(sums, np.full(m + 1, m), probabilities)


def _mass(values: Sequence[_Values]) -> Floats:
    """Return the probability [arm, i] that the arm takes the i-th smallest value of any arm."""
    sums, lengths, probabilities = (np.concatenate(part) for part in zip(*values, strict=True))
    owner = np.repeat(np.arange(len(values)), [value.sums.size for value in values])
    fractions, place = np.unique(_over_common_denominator(sums, lengths), return_inverse=True)
    mass = np.zeros((len(values), fractions.size))
    np.add.at(mass, (owner, place), probabilities)
    return mass


def _over_common_denominator(sums: Integers, lengths: Integers) -> NDArray[np.generic]:
    """Return integers in the order of sums / lengths, where a length of 0 is above all."""
    distinct, place = np.unique(lengths, return_inverse=True)
    positive = [int(m) for m in distinct if m > 0]
    common = math.lcm(*positive)
    kind = np.int64 if common < _FITS_INT64 else object  # Python's integers are unlimited
    factors = np.array([common // int(m) if m > 0 else common + 1 for m in distinct], dtype=kind)
    return np.asarray(sums.astype(kind) * factors[place])


def _winning_at_random(mass: Floats) -> Floats:
    """Return each arm's probability of the highest value, with ties shared evenly."""
    below = _below(mass)
    wins = np.empty(mass.shape[0])
    for arm in range(wins.size):
        tied = np.zeros_like(mass)  # [j, i]: j other arms tie at the i-th value, none is above
        tied[0] = 1.0
        for other in np.delete(np.arange(wins.size), arm):
            tied[1:] = tied[1:] * below[other] + tied[:-1] * mass[other]
            tied[0] *= below[other]
        share = tied / np.arange(1, wins.size + 1)[:, None]
        wins[arm] = (mass[arm] * share).sum()
    return wins


def _winning_by_rank(mass: Floats, ranking: Sequence[int]) -> Floats:
    """Return each arm's probability of the highest value, with ties broken by rank."""
    below = _below(mass)
    rank = np.argsort(ranking)
    wins = np.empty(mass.shape[0])
    for arm in range(wins.size):
        beaten = below + mass * (rank > rank[arm])[:, None]
        wins[arm] = (mass[arm] * np.delete(beaten, arm, axis=0).prod(axis=0)).sum()
    return wins


def _below(mass: Floats) -> Floats:
    """Return the probability [arm, i] that the arm's value is below the i-th."""
    below = np.zeros_like(mass)
    below[:, 1:] = np.cumsum(mass[:, :-1], axis=1)
    return below


def _checked_histories(pulls: ArrayLike, ones: ArrayLike) -> list[tuple[int, int]]:
    pulls, ones = np.asarray(pulls), np.asarray(ones)
    if pulls.ndim != 1 or pulls.shape != ones.shape or pulls.size == 0:
        raise BadParameter(f"pulls and ones need a number for each arm, got {pulls} and {ones}")
    if np.any(ones < 0) or np.any(ones > pulls):
        raise BadParameter(f"an arm has 0 <= ones <= pulls, got pulls={pulls}, ones={ones}")
    return [(int(s), int(v)) for s, v in zip(pulls, ones, strict=True)]


def _check_ranking(ranking: Sequence[int] | None) -> None:
    if ranking is not None and sorted(ranking) != list(range(len(ranking))):
        raise BadParameter(f"a ranking names every arm from 0 once, got {tuple(ranking)}")
