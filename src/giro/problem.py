"""Problem: the contract of a problem, parameters and three functions of an instance."""

import functools
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from giro.compiling import bind, dispatched, in_python, is_kernel, plain
from giro.errors import BadParameter
from giro.named import Named
from giro.offer import Offer, Shape

Means: TypeAlias = np.ndarray  # [arm] expected reward of every arm in this round


class Law(NamedTuple):
    """The distribution of an arm's rewards, or points of its density and their weights."""

    values: np.ndarray  # [i]
    weights: np.ndarray  # [i] they add up to 1


class Problem(Named, kind="problem", home="giro.problems"):
    """Parameters of a family of problems, and how an instance is drawn, revealed and rewarded.

    A subclass is a frozen dataclass with a name. `start` draws the instance of one run. `reveal`
    and `reward` are functions of the instance, kernels if they compile. The means that `reveal`
    returns serve to count regret: the policy does not see them.
    """

    n_arms: int
    n_features: ClassVar[int] = 0  # of a context
    n_arm_features: ClassVar[int] = 0  # of each arm on offer
    offers_all: ClassVar[bool] = True  # whether every arm is on offer in every round
    source: ClassVar[str] = ""

    def start(self, rng: np.random.Generator) -> Any:
        """Return one instance, such as the means of this run."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it starts")

    @staticmethod
    def reveal(instance: Any, t: int, rng: np.random.Generator) -> tuple[Offer, Means, float]:
        """Return the offer of round t (from 0), the means of all arms, and the highest on offer."""
        raise NotImplementedError("a problem needs a function reveal")

    @staticmethod
    def reward(instance: Any, means: Means, arm: int, rng: np.random.Generator) -> float:
        """Return a reward in [0, 1] for pulling `arm` in this round."""
        raise NotImplementedError("a problem needs a function reward")

    def withhold(
        self,
        state: Any,
        shape: Shape,
        rng: np.random.Generator,
        *,
        compiled: bool,
        whole: bool = False,
    ) -> Any:
        """Return the state that the loop plays: the policy's, or one that keeps rewards back.

        With `whole` offers, as for policies that learn from them.
        """
        return state

    def law(self, instance: Any, arm: int) -> Law:
        """Return the distribution of the arm's rewards, for problems in which it never changes."""
        raise BadParameter(f"{self} has no limit: its arms have no fixed distribution of rewards")

    @property
    def compiled(self) -> bool:
        """Whether loops that reveal and reward can be compiled."""
        return is_kernel(self.reveal) and is_kernel(self.reward)


@functools.cache
def _rule() -> tuple[np.ndarray, np.ndarray]:
    """Return the 64 nodes of Gauss and Legendre on [-1, 1], and their weights."""
    nodes, weights = np.polynomial.legendre.leggauss(64)
    return nodes, weights


def density_law(density: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> Law:
    """Return a distribution by its density on [low, high], up to a factor (Gauss and Legendre)."""
    nodes, weights = _rule()
    values = low + (high - low) * (nodes + 1.0) / 2.0
    masses = weights * density(values)
    return Law(values, masses / masses.sum())


@dispatched
def reveal(instance: Any, t: int, rng: np.random.Generator) -> tuple[Offer, Means, float]:
    """Return the offer of a round, the means of all arms, and the highest on offer."""
    raise TypeError("replaced by dispatch")


@dispatched
def reward(instance: Any, means: Means, arm: int, rng: np.random.Generator) -> float:
    """Return the reward for pulling `arm` in this round."""
    raise TypeError("replaced by dispatch")


def start(problem: Problem, rng: np.random.Generator) -> Any:
    """Return an instance of the problem, ready for `reveal` and `reward`."""
    instance, functions = problem.start(rng), (type(problem).reveal, type(problem).reward)
    if not problem.compiled:
        instance = in_python(type(instance))(*instance)
        functions = plain(functions[0]), plain(functions[1])
    bind(reveal, type(instance), functions[0])
    bind(reward, type(instance), functions[1])
    return instance


# -- problems made of other problems ---------------------------------------------------------------

SIZES = ("n_arms", "n_features", "n_arm_features")


class Wrapping(Problem):
    """A problem made of others, with their arms, contexts and features."""

    wrapped: ClassVar[tuple[str, ...]]  # the parameters that are problems

    def __post_init__(self) -> None:
        """Read the problems, and take the sizes from the last one."""
        super().__post_init__()
        for key in self.wrapped:
            problem = Problem.parse(getattr(self, key))
            if not problem.offers_all:
                raise BadParameter(
                    f"{self.name} needs problems with all arms on offer, got {problem}"
                )
            sizes = {size: getattr(problem, size) for size in SIZES}
            for name, value in {key: problem, **sizes}.items():
                object.__setattr__(self, name, value)

    @property
    def compiled(self) -> bool:
        """Whether all problems compile."""
        return all(getattr(self, key).compiled for key in self.wrapped)
