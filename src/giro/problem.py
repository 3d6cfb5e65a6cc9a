"""What a problem is: parameters, and three functions of an instance."""

from typing import Any, ClassVar, TypeAlias

import numpy as np

from giro.kernel import bind, dispatched
from giro.named import Named
from giro.policy import Context

Means: TypeAlias = np.ndarray  # [arm] expected reward in this round


class Problem(Named, kind="problem"):
    """Parameters of a family of problems, and how an instance is drawn, revealed and rewarded.

    A subclass is a frozen dataclass with a name; `start` draws the instance of one run, `reveal`
    and `reward` are functions of it, kernels where they compile. The means that `reveal` returns
    are for the referee: only the loop sees both them and the policy.
    """

    n_arms: int
    n_features: ClassVar[int] = 0
    source: ClassVar[str] = ""

    def start(self, rng: np.random.Generator) -> Any:
        """Return one instance, such as the means of this run."""
        raise TypeError(f"{type(self).__name__} does not say how it starts")

    @staticmethod
    def reveal(instance: Any, t: int, rng: np.random.Generator) -> tuple[Context, Means, float]:
        """Return the context of round t (from 0), the means of all arms, and the highest."""
        raise TypeError("a problem says what it reveals")

    @staticmethod
    def reward(instance: Any, means: Means, arm: int, rng: np.random.Generator) -> float:
        """Return a reward in [0, 1] for pulling `arm` in this round."""
        raise TypeError("a problem says how it rewards")


@dispatched
def reveal(instance: Any, t: int, rng: np.random.Generator) -> tuple[Context, Means, float]:
    """Return the context of a round, the means of all arms, and the highest."""
    raise TypeError("replaced by dispatch")


@dispatched
def reward(instance: Any, means: Means, arm: int, rng: np.random.Generator) -> float:
    """Return the reward for pulling `arm` in this round."""
    raise TypeError("replaced by dispatch")


def start(problem: Problem, rng: np.random.Generator) -> Any:
    """Return an instance of the problem, ready for `reveal` and `reward`."""
    instance = problem.start(rng)
    bind(reveal, type(instance), type(problem).reveal)
    bind(reward, type(instance), type(problem).reward)
    return instance
