"""Sleeping: the arms of another problem, only some of them awake in a round."""

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from giro.checks import Needed
from giro.compiling import kernel
from giro.kernels.regression.linear_algebra import assign
from giro.offer import Offer
from giro.problem import Means, Problem, Wrapping
from giro.problem import reveal as reveal_all
from giro.problem import reward as reward_of
from giro.problem import start as start_problem


class _Instance(NamedTuple):
    inner: Any  # the instance of the other problem
    arms: np.ndarray  # [i] arms that are awake, overwritten in each round
    features: np.ndarray  # [i, feature] of these
    awake: float  # probability of each arm


@kernel
def _reveal(instance: _Instance, t: int, rng: np.random.Generator) -> tuple[Offer, Means, float]:
    offer, means, _ = reveal_all(instance.inner, t, rng)
    n = 0
    while n == 0:
        for arm in offer.arms:
            if rng.random() < instance.awake:
                instance.arms[n] = arm
                n += 1
    highest = means[instance.arms[0]]
    for i in range(n):
        highest = max(highest, means[instance.arms[i]])
        if offer.features.shape[0] > 0:
            assign(instance.features[i], offer.features[instance.arms[i]])
    features = instance.features[: n if offer.features.shape[0] > 0 else 0]
    return Offer(instance.arms[:n], offer.context, features), means, highest


@kernel
def _reward(instance: _Instance, means: Means, arm: int, rng: np.random.Generator) -> float:
    return reward_of(instance.inner, means, arm, rng)


@dataclass(frozen=True)
class Sleeping(Wrapping, name="sleeping"):
    """The arms of `problem`, each awake with probability `awake` in a round.

    Arms wake up independently of each other and of everything else. A round without an awake arm is
    drawn again. Regret is counted against the best arm that is awake.

    >>> Sleeping.parse("sleeping:problem=[bernoulli:n_arms=3]").n_arms
    3
    """

    source = "Kleinberg, Niculescu-Mizil and Sharma 2010, with independent arms"
    reveal = staticmethod(_reveal)
    reward = staticmethod(_reward)
    offers_all = False
    wrapped = ("problem",)

    problem: Problem
    awake: Annotated[float, Needed("0 < {} <= 1", lambda value: 0.0 < value <= 1.0)] = 0.5

    def start(self, rng: np.random.Generator) -> _Instance:
        """Return an instance of the problem, and buffers for the arms that are awake."""
        inner = start_problem(self.problem, rng)
        arms, features = (
            np.empty(self.n_arms, np.int64),
            np.empty((self.n_arms, self.n_arm_features)),
        )
        return _Instance(inner, arms, features, float(self.awake))
