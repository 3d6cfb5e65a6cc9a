"""What a policy is: parameters, and three functions of a state."""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from giro.kernel import bind, dispatched
from giro.named import Named

Context: TypeAlias = np.ndarray  # [feature], empty where the problem has no contexts
State: TypeAlias = NamedTuple  # arrays that change and parameters that do not


class Policy(Named, kind="policy"):
    """Parameters of a policy, and how it starts, chooses and learns.

    A subclass is a frozen dataclass with a name, `class Giro(Policy, name="giro")`, its fields are
    the parameters. `start` makes the state of one run; `choose` and `learn` are functions of that
    state, kernels where they compile and plain Python where they do not. Each policy has a state
    class of its own. A policy never keeps a generator or anything else that changes.
    """

    source: ClassVar[str] = ""  # author, year and numbered thing, shown by `giro policies`

    propensities: ClassVar[Any] = None
    """The exact law of `choose`, if known: a static function (state, context) -> [arm].

    It draws nothing and changes nothing. Where it cannot tell in this state, it returns an empty
    array; `has_propensities` says so beforehand.
    """

    needs_rounds: bool = False
    """Whether the `rounds` given to `start` are a plan that changes choices, and not only room."""

    prefers_untried: bool = True
    """Whether an arm may get every decision while its first reward is under way.

    A bandit then holds such an arm back after some decisions; not so if rewards change nothing.
    """

    choosing_leaves_traces: bool = False
    """Whether `choose` leaves something in the state that changes the draws of later choices.

    Such a state depends on the choices made, and not only on the rewards: a replay that has to end
    in the same state, bit for bit, repeats both.
    """

    def start(self, n_arms: int, n_features: int, rounds: int, rng: np.random.Generator) -> Any:
        """Return the state before the first of `rounds` rounds."""
        raise TypeError(f"{type(self).__name__} does not say how it starts")

    @staticmethod
    def choose(state: Any, context: Context, rng: np.random.Generator) -> int:
        """Return the arm to pull."""
        raise TypeError("a policy says how it chooses")

    @staticmethod
    def learn(
        state: Any, context: Context, arm: int, reward: float, rng: np.random.Generator
    ) -> None:
        """Take in the reward of a pulled arm."""
        raise TypeError("a policy says how it learns")

    def functions(self, n_features: int) -> tuple[Callable[..., int], Callable[..., None]]:
        """Return `choose` and `learn` for the state that `start` makes with so many features.

        Others than the class's own where a policy has a state for contexts and one without, or a
        model that does not compile.
        """
        return type(self).choose, type(self).learn

    def has_propensities(self, *, n_features: int, binary: bool) -> bool:
        """Tell whether `propensities` knows the law of the next choice.

        `binary` says that all rewards so far were 0 or 1.
        """
        return type(self).propensities is not None


@dispatched
def choose(state: Any, context: Context, rng: np.random.Generator) -> int:
    """Return the arm that the policy of this state pulls."""
    raise TypeError("replaced by dispatch")


@dispatched
def learn(state: Any, context: Context, arm: int, reward: float, rng: np.random.Generator) -> None:
    """Let the policy of this state take in a reward."""
    raise TypeError("replaced by dispatch")


def start(
    policy: Policy, n_arms: int, n_features: int, rounds: int, rng: np.random.Generator
) -> Any:
    """Return the policy's first state, ready for `choose` and `learn`."""
    state = policy.start(n_arms, n_features, rounds, rng)
    chooses, learns = policy.functions(n_features)
    bind(choose, type(state), chooses)
    bind(learn, type(state), learns)
    return state
