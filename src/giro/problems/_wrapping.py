"""Problems made of other problems."""

from typing import ClassVar

from giro.errors import BadParameter
from giro.problem import Problem

SIZES = ("n_arms", "n_features", "n_arm_features")


class Wrapping(Problem):
    """A problem that has the arms, contexts and features of those it is made of."""

    wrapped: ClassVar[tuple[str, ...]]  # the parameters that are problems

    def __post_init__(self) -> None:
        """Read the problems, and take their sizes from the last."""
        for key in self.wrapped:
            problem = Problem.parse(getattr(self, key))
            if not problem.offers_all:
                raise BadParameter(f"{self.name} wraps problems whose arms are all awake")
            sizes = {size: getattr(problem, size) for size in SIZES}
            for name, value in {key: problem, **sizes}.items():
                object.__setattr__(self, name, value)

    @property
    def compiled(self) -> bool:
        """Whether all problems compile."""
        return all(getattr(self, key).compiled for key in self.wrapped)
