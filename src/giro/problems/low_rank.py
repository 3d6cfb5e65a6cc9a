"""Low rank: users are mixtures of a few tastes, and a taste says how often it likes each arm."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import Count
from giro.compiling import kernel
from giro.kernels.draws.continuous import standard_gamma
from giro.kernels.draws.uniform import integer_below, uniforms
from giro.offer import NO_FEATURES, Offer
from giro.problem import Means, Problem
from giro.problems.bernoulli import toss

_MIXED = 0.2  # of the Dirichlet distribution: most users have mainly one taste


class _Instance(NamedTuple):
    means: np.ndarray  # [user, arm]
    context: np.ndarray  # [user] 1 for the user of the present round
    arms: np.ndarray  # [arm] all of them
    features: np.ndarray  # of arms: none


@kernel
def _reveal(instance: _Instance, t: int, rng: np.random.Generator) -> tuple[Offer, Means, float]:
    user = integer_below(instance.context.size, rng)
    for j in range(instance.context.size):
        instance.context[j] = 1.0 if j == user else 0.0
    means = instance.means[user]
    return Offer(instance.arms, instance.context, instance.features), means, means.max()


@dataclass(frozen=True)
class LowRank(Problem, name="low-rank"):
    """Rewards 0 and 1 whose means are a matrix of `users` and `arms` that has rank `rank`.

    In each round one of the users comes, each as likely, and the context is the indicator of that
    user. The user's mean for an arm is Σ w_r v_r: weights of `rank` tastes, which are a uniform
    point of the simplex, times the probabilities with which each taste likes the arm, which are
    uniform. Both are drawn in each run. What one user shows of an arm says something about others.
    """

    source = "the model of Kawale et al. 2015, Section 5, with means in [0, 1]"
    reveal = staticmethod(_reveal)
    reward = staticmethod(toss)

    n_arms: Count = 10
    users: Count = field(default=10, kw_only=True)
    rank: Count = field(default=2, kw_only=True)

    @property
    def n_features(self) -> int:  # type: ignore[override]  # known with the users
        """The number of users."""
        return self.users

    def start(self, rng: np.random.Generator) -> _Instance:
        """Return the tastes of one run."""
        weights = np.array([standard_gamma(_MIXED, rng) for _ in range(self.users * self.rank)])
        weights = weights.reshape(self.users, self.rank)
        weights /= weights.sum(axis=1, keepdims=True)
        liked = uniforms(0.0, 1.0, (self.rank, self.n_arms), rng)
        means = np.zeros((self.users, self.n_arms))
        for taste in range(self.rank):  # in an order that no version of NumPy changes
            means += weights[:, taste : taste + 1] * liked[taste]
        return _Instance(means, np.zeros(self.users), np.arange(self.n_arms), NO_FEATURES)
