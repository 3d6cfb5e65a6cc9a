"""With which probabilities a bandit decides: the policy's own, or those of a vote.

Estimating a probability beside an arm that was drawn separately gives biased inverse-propensity
estimates. So where the policy's probabilities are not known, it chooses many times, the shares of
its choices and a floor of exploration are the probabilities, and the arm is drawn from these.
"""

import numpy as np

from giro.bandit.setting import Setting
from giro.kernels.draws.uniform import integer_below
from giro.live import LivePolicy
from giro.offer import Offer


def sample_arm(
    live: LivePolicy, setting: Setting, decision: int, offer: Offer, *, binary: bool
) -> tuple[int, np.ndarray | None]:
    """Return the arm of a decision, and the probabilities of all on offer if they were voted.

    The policy has learned what the decision knows; `binary` says that these were rewards 0 and 1.
    """
    if offer.arms.size == 1:
        return int(offer.arms[0]), None
    voted = setting.is_voted(offer, binary=binary)
    floor, rng = setting.floor_if(voted=voted), live.stream_of(decision)
    if voted:
        shares = mixed(live.vote(offer, setting.votes), floor)
        return int(offer.arms[drawn(shares, rng)]), shares
    if floor > 0.0 and rng.random() < floor:
        return int(offer.arms[integer_below(offer.arms.size, rng)]), None
    return live.choose(offer), None


def mixed(probabilities: np.ndarray, floor: float) -> np.ndarray:
    """Return the probabilities of following these, but with probability `floor` taking any arm."""
    return (1.0 - floor) * probabilities + floor / probabilities.size


def drawn(probabilities: np.ndarray, rng: np.random.Generator) -> int:
    """Return a place drawn with these probabilities."""
    ends = np.cumsum(probabilities)
    position = int(np.searchsorted(ends, rng.random() * ends[-1], side="right"))
    return min(position, probabilities.size - 1)
