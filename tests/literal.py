"""Giro as the paper writes it, entry by entry: the judge of the fast engine.

A judge must not be wrong in the same way as what it judges, so nothing of giro is imported here.
"""

import math

import numba
import numpy as np


@numba.njit  # noqa: TID251  # a judge does without giro's own compile options, too
def literal_choice(
    rewards: np.ndarray, lengths: np.ndarray, arms: np.ndarray, a: float, ranking: np.ndarray, rng
) -> int:
    """Kveton et al. (2019), Algorithm 2: sample |H| entries of each history, pull the best mean.

    Only `arms` are on offer. Among equal means, the arm that `ranking` prefers, or any of them if
    it is empty. Means are rounded to 12 digits, so that the order of summation does not break ties.
    """
    values = np.full(arms.size, np.inf)
    for i in range(arms.size):
        arm = arms[i]
        s = lengths[arm]
        if s > 0:
            k = _number_of_pseudo_rewards(a, s, rng)
            m = s + 2 * k
            total = 0.0
            for _ in range(m):
                entry = int(rng.random() * m)
                if entry < s:
                    total += rewards[arm, entry]
                elif entry < s + k:
                    total += 1.0
            values[i] = np.floor(total / m * 2.0**40 + 0.5)
    tied = arms[values == values.max()]
    if ranking.size > 0:
        return int(tied[np.argmax(ranking[tied])])
    return int(tied[int(rng.random() * tied.size)])


@numba.njit  # noqa: TID251
def _number_of_pseudo_rewards(a: float, s: int, rng) -> int:
    """Section 6.1: ceil(a s) of each kind with probability a s - floor(a s), else floor(a s)."""
    k = math.floor(a * s + 1e-9)  # 3 * (1/3) is 1
    share = a * s - k
    return int(k + 1) if share > 1e-9 and rng.random() < share else int(k)


@numba.njit  # noqa: TID251
def literal_counts(rewards, lengths, arms, a, ranking, counts, rng) -> None:
    """Add to `counts` how often each arm is chosen; its last entry is the number of choices."""
    for _ in range(counts[-1]):
        counts[literal_choice(rewards, lengths, arms, a, ranking, rng)] += 1
