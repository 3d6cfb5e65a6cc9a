"""How often a policy pulls each arm in a context, given what its arms have shown in others."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from live_kernels import learn_all, voted

from giro.compiling.held import hold
from giro.offer import Offer, Shape
from giro.policy import Policy, start
from giro.seeds import stream
from giro.standardising import NO_MOMENTS


class Past(NamedTuple):
    """Observed rounds."""

    contexts: np.ndarray  # [round, feature]
    arms: np.ndarray  # [round]
    rewards: np.ndarray  # [round]
    n_arms: int

    def of(self, arm: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rows of a regression, which have a constant 1, and rewards of one arm."""
        return with_constant(self.contexts[self.arms == arm]), self.rewards[self.arms == arm]

    def each(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield rows and rewards of each arm."""
        return (self.of(arm) for arm in range(self.n_arms))


def with_constant(contexts: np.ndarray) -> np.ndarray:
    """Return contexts with the constant 1 that policies append, last."""
    return np.concatenate([contexts, np.ones((*contexts.shape[:-1], 1))], axis=-1)


def some_past(*, rounds: int, d: int, n_arms: int, seed: int, tried: int | None = None) -> Past:
    """Return rounds with 0-1 rewards; columns are normal, 0 or 1, constant, and of far outliers.

    The last two are copies of each other, so that every design is singular; so is the constant that
    policies append. Arms from `tried` on were never pulled.
    """
    rng = stream(seed, rounds, d)
    contexts = rng.normal(size=(rounds, d))
    contexts[:, 0] = rng.random(rounds) < 0.1
    contexts[:, 1] = np.where(rng.random(rounds) < 0.01, 20.0, -0.05)
    contexts[:, -2:] = 1.0
    arms = rng.integers(0, tried or n_arms, rounds)
    chances = 1 / (1 + np.exp(-contexts[:, 2] * (arms - 1) - 0.3 * arms + 0.5))
    return Past(contexts, arms, (rng.random(rounds) < chances).astype(float), n_arms)


def informed(policy: Policy, past: Past, *, rounds: int | None = None, seed: int = 0) -> Any:
    """Return the policy's state after this past."""
    rng, size = stream(seed, 0), rounds or past.arms.size + 1
    state = start(policy, Shape(past.n_arms, past.contexts.shape[1], 0, size, size), rng)
    nothing = np.empty((past.arms.size, 0))
    learn_all(hold(state, NO_MOMENTS, rng, rng), past.contexts, nothing, past.arms, past.rewards)
    return state


def chosen(state: Any, offer: Offer, *, draws: int, seed: int) -> np.ndarray:
    """Return the arms chosen from this offer, sorted; the state is the same each time."""
    rng = stream(seed, 1)
    return np.repeat(offer.arms, voted(hold(state, NO_MOMENTS, rng, rng), offer, draws))
