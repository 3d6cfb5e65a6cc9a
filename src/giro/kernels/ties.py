"""Which of several equal arms is pulled."""

from typing import Literal, TypeAlias, get_args

import numpy as np

from giro.errors import BadParameter
from giro.kernel import kernel
from giro.kernels.draws.uniform import shuffled

Ties: TypeAlias = Literal["random", "fixed"]


def tie_ranking(ties: Ties, n_arms: int, rng: np.random.Generator) -> np.ndarray:
    """Return the order in which tied arms are preferred, or an empty array for a fresh draw.

    `fixed` is the rule of Kveton et al. (2019), Section 3.1, drawn at random in advance; `random`
    draws among the tied arms each time, so that decisions made before the first rewards arrive do
    not all go to one arm.
    """
    if ties not in get_args(Ties):
        raise BadParameter(f"ties is random or fixed, got {ties!r}")
    return shuffled(n_arms, rng) if ties == "fixed" else np.empty(0, np.int64)


@kernel
def argmax(values: np.ndarray, ranking: np.ndarray, rng: np.random.Generator) -> int:
    """Return the arm with the highest value, ties as `ranking` says (see `tie_ranking`)."""
    best, tied = 0, 1
    for arm in range(1, values.size):
        if values[arm] > values[best]:
            best, tied = arm, 1
        elif values[arm] == values[best]:
            tied += 1
            if beats_in_tie(arm, best, tied, ranking, rng):
                best = arm
    return best


@kernel
def beats_in_tie(
    arm: int, best: int, tied: int, ranking: np.ndarray, rng: np.random.Generator
) -> bool:
    """Tell whether `arm`, the `tied`-th among equals, takes the place of `best`.

    Drawn afresh, the j-th of the tied arms takes over with probability 1/j, which leaves each of
    them in front equally often.
    """
    if ranking.size > 0:
        return bool(ranking[arm] > ranking[best])
    return rng.random() * tied < 1.0


@kernel
def highest(arms: np.ndarray) -> int:
    """Return the first of the records with the highest `centre`."""
    best = 0
    for arm in range(1, arms.size):
        if arms[arm].centre > arms[best].centre:
            best = arm
    return best


@kernel
def an_untried_arm(records: np.ndarray, ranking: np.ndarray, rng: np.random.Generator) -> int:
    """Return one of the records whose `centre` is infinite."""
    best, tied = -1, 0
    for arm in range(records.size):
        if records[arm].centre == np.inf:
            tied += 1
            if tied == 1 or beats_in_tie(arm, best, tied, ranking, rng):
                best = arm
    return best
