"""Which of several equal arms is pulled."""

from typing import Literal, TypeAlias, get_args

import numpy as np

from giro.compiling import kernel
from giro.errors import BadParameter

Ties: TypeAlias = Literal["random", "fixed"]


def tie_ranking(ties: Ties, n_arms: int, rng: np.random.Generator) -> np.ndarray:
    """Return the preference [arm] that decides ties, or an empty array for a fresh draw.

    `fixed` is the rule of Kveton et al. (2019), Section 3.1, drawn at random in advance; `random`
    draws among the tied arms each time, so that decisions made before the first rewards arrive do
    not all go to one arm. One number of `rng` is the seed of all preferences (SplitMix64; Steele et
    al., 2014), so those of the first arms do not depend on how many there are.
    """
    if ties not in get_args(Ties):
        raise BadParameter(f"ties is random or fixed, got {ties!r}")
    if ties == "random":
        return np.empty(0)
    steps = np.arange(1, n_arms + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = np.uint64(int(rng.random() * 2.0**53)) + steps
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(11), np.float64)


@kernel
def argmax(
    values: np.ndarray, arms: np.ndarray, ranking: np.ndarray, rng: np.random.Generator
) -> int:
    """Return the arm with the highest of values[i], the i-th belonging to arms[i].

    Ties as `ranking` says (see `tie_ranking`).
    """
    best, tied = 0, 1
    highest_so_far = values[0]
    for i in range(1, values.size):
        value = values[i]
        if value > highest_so_far:
            best, tied, highest_so_far = i, 1, value
        elif value == highest_so_far:
            tied += 1
            if beats_in_tie(arms[i], arms[best], tied, ranking, rng):
                best = i
    return int(arms[best])


@kernel
def beats_in_tie(
    arm: int, best: int, tied: int, ranking: np.ndarray, rng: np.random.Generator
) -> bool:
    """Return whether `arm`, the `tied`-th among equals, takes the place of `best`.

    Drawn each time, the j-th of the tied arms takes over with probability 1/j, which leaves each of
    them in front equally often.
    """
    if ranking.size > 0:
        return bool(ranking[arm] > ranking[best])
    return rng.random() * tied < 1.0


@kernel
def highest(records: np.ndarray, arms: np.ndarray) -> int:
    """Return the first of these arms with the highest `centre` of its record."""
    best = arms[0]
    for arm in arms[1:]:
        if records[arm].centre > records[best].centre:
            best = arm
    return int(best)


@kernel
def an_untried_arm(
    records: np.ndarray, arms: np.ndarray, ranking: np.ndarray, rng: np.random.Generator
) -> int:
    """Return one of these arms whose record has an infinite `centre`, -1 if there is none."""
    best, tied = -1, 0
    for arm in arms:
        if records[arm].centre == np.inf:
            tied += 1
            if tied == 1 or beats_in_tie(arm, best, tied, ranking, rng):
                best = int(arm)
    return best
