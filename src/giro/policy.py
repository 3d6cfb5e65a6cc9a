"""What a policy is: parameters, and three functions of a state."""

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
    bind(choose, type(state), type(policy).choose)
    bind(learn, type(state), type(policy).learn)
    return state
