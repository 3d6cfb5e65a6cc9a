"""Draw a place from known probabilities, with a floor and a baseline mixed in."""

from typing import Final, NamedTuple

import numpy as np

from giro.compiling import kernel, plain
from giro.kernels.draws.uniform import first_uniform

NOT_ONE: Final = -2  # in place of a position: -1 says that nothing is known


class Drawn(NamedTuple):
    """A position in the offer, drawn from known probabilities."""

    position: int
    propensities: np.ndarray  # [i] with everything mixed in
    own: float  # the policy's own probability of the arm, floor included


def mixed_draw(
    policy: np.ndarray, floor: float, share: float, baseline: int, point: float
) -> Drawn:
    """Return an arm drawn from these probabilities of a policy, as `LivePolicy.draw` does."""
    chances = np.empty(policy.size)
    position, own = plain(mix_and_draw)(policy, floor, share, baseline, point, chances)
    return Drawn(position, chances, float(own))


@kernel
def mix_and_draw(
    policy: np.ndarray,
    floor: float,
    share: float,
    baseline: int,
    point: float,
    chances: np.ndarray,
) -> tuple[int, float]:
    """Write a policy's probabilities with a floor and a baseline mixed in, and draw a place.

    Return it with the policy's own probability of it, floor included. The place is `NOT_ONE` if the
    probabilities do not add up to 1, and their sum is returned with it.
    """
    total, k, position = 0.0, chances.size, 0
    for i in range(k):
        total += policy[i]
    if not total > 0.5:  # also if it is not a number
        return NOT_ONE, total
    for i in range(k):
        chances[i] = (1.0 - floor) * (policy[i] / total) + floor / k
    if baseline < 0:
        return 0, 0.0
    if share == 1.0:
        position = _drawn(chances, point)
        return position, chances[position]
    own = chances.copy()
    for i in range(k):
        chances[i] = share * own[i] + (1.0 - share if i == baseline else 0.0)
    position = _drawn(chances, point)
    return position, own[position]


@kernel
def drawn_places(
    chances: np.ndarray, key: np.ndarray, numbers: np.ndarray, places: np.ndarray
) -> None:
    """Write the place that each of these streams draws, see `first_uniform`."""
    for i in range(numbers.size):
        places[i] = _drawn(chances, first_uniform(key, numbers[i]))


@kernel
def _drawn(chances: np.ndarray, point: float) -> int:
    """Return the place of a point in [0, 1) among chances, which need not add up to exactly 1."""
    total = 0.0
    for i in range(chances.size):
        total += chances[i]
    left = point * total
    for i in range(chances.size):
        left -= chances[i]
        if left < 0.0:
            return i
    return _last_possible(chances)


@kernel
def _last_possible(chances: np.ndarray) -> int:
    """Return the last place with a chance, where rounding left none."""
    last = 0
    for i in range(chances.size):
        if chances[i] > 0.0:
            last = i
    return last
