"""Switching: one problem that another replaces from some round on."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from giro.checks import Count
from giro.compiling import kernel
from giro.errors import BadParameter
from giro.offer import Offer
from giro.problem import SIZES, Means, Problem, Wrapping
from giro.problem import reveal as reveal_all
from giro.problem import reward as reward_of
from giro.problem import start as start_problem


class _Instance(NamedTuple):
    first: Any  # the instances of the two problems
    second: Any
    at: int
    switched: np.ndarray  # [1] whether the present round belongs to the second


@kernel
def _reveal(instance: _Instance, t: int, rng: np.random.Generator) -> tuple[Offer, Means, float]:
    instance.switched[0] = t >= instance.at
    if t < instance.at:
        return reveal_all(instance.first, t, rng)
    return reveal_all(instance.second, t, rng)


@kernel
def _reward(instance: _Instance, means: Means, arm: int, rng: np.random.Generator) -> float:
    if instance.switched[0]:
        return reward_of(instance.second, means, arm, rng)
    return reward_of(instance.first, means, arm, rng)


@dataclass(frozen=True)
class Switching(Wrapping, name="switching"):
    """The problem `first` for `at` rounds, and then the problem `second`, with the same arms.

    Regret is counted against the best arm of the present round. If the second is itself switching,
    the world changes twice, and so on. Rounds are always counted from the beginning.

    >>> Switching(Problem.parse("bernoulli:n_arms=3"), Problem.parse("beta:n_arms=3"), 50).n_arms
    3
    """

    source = "Garivier and Moulines 2011, abruptly changing environments"
    reveal = staticmethod(_reveal)
    reward = staticmethod(_reward)
    wrapped = ("first", "second")

    first: Problem
    second: Problem
    at: Count

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        first, second = (
            tuple(getattr(problem, size) for size in SIZES) for problem in (self.first, self.second)
        )
        if first != second:
            raise BadParameter(
                "switching needs two problems with equal numbers of arms, context features and arm "
                f"features, got {first} and {second}"
            )

    def start(self, rng: np.random.Generator) -> _Instance:
        """Return an instance of each problem."""
        first, second = (start_problem(problem, rng) for problem in (self.first, self.second))
        return _Instance(first, second, int(self.at), np.zeros(1, np.bool_))
