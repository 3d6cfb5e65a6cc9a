"""How an arm is picked: by the policy, or drawn from a vote when the policy's law is not known.

Estimating a probability beside an arm that was drawn separately gives biased inverse-propensity
estimates. So where the law is not known, the policy chooses many times, the shares of its choices
and a floor of exploration are the probabilities, and the arm is drawn from these.
"""

import numpy as np

from giro.bandit.learner import Learner
from giro.bandit.log import Log
from giro.bandit.setting import Setting
from giro.kernels.draws.uniform import integer_below


def pick(
    learner: Learner, setting: Setting, log: Log, decision: int, context: np.ndarray
) -> tuple[int, np.ndarray | None]:
    """Return the place of the arm of a decision, and the probabilities if they were voted.

    The learner has learned what the decision knows.
    """
    n_arms = len(learner.arms)
    if n_arms == 1:
        return 0, None
    voted = setting.is_voted(n_features=context.size, binary=log.is_binary(learner.learned))
    floor = setting.floor_if(voted=voted)
    if not voted and floor == 0.0:
        return learner.choose(decision, context), None
    rng = learner.stream_of(decision)
    if voted:
        shares = learner.vote_on(context, setting.votes) / setting.votes
        law = mixed(shares, floor)
        return drawn(law, rng), law
    if rng.random() < floor:
        return integer_below(n_arms, rng), None
    return learner.choose_on(context), None


def mixed(law: np.ndarray, floor: float) -> np.ndarray:
    """Return the law of following `law`, but with probability `floor` taking any arm."""
    return (1.0 - floor) * law + floor / law.size


def drawn(law: np.ndarray, rng: np.random.Generator) -> int:
    """Return an arm drawn with these probabilities."""
    place = int(np.searchsorted(np.cumsum(law), rng.random() * law.sum(), side="right"))
    return min(place, law.size - 1)
