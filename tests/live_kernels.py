"""Live policies of a shape, and their kernels, for tests: with them nothing compiles twice."""

from collections.abc import Callable
from typing import Any

import numpy as np

from giro.compiling.held import hold
from giro.features import Schema
from giro.live import LivePolicy, _choose, _draw, _learn, _learn_of_offer, _learn_sparse
from giro.offer import Case, Offer, Shape
from giro.policy import Policy
from giro.seeds import stream
from giro.standardising import NO_MOMENTS

Form = Callable[[Any], Any]
_NOT_COUNTED = np.empty(0, np.int64)


def schema_of(shape: Shape, *, standardise: bool = False) -> Schema:
    """Return the schema of so many numbers as a shape has, which policies see as they are."""
    return Schema.of_numbers(shape.n_features, shape.n_arm_features, standardise=standardise)


def moments_for(policy: Policy, shape: Shape) -> Any:
    """Return moments of the kind that a live policy of this shape has, which change nothing.

    With another kind all kernels would be compiled again.
    """
    return NO_MOMENTS if policy.resolved(contextual=shape.contextual).uses_contexts else None


def live_of(policy: Policy, shape: Shape, *, seed: int, standardise: bool = False) -> LivePolicy:
    """Return a live policy of this shape, which sees numbers as they are."""
    return LivePolicy(
        policy,
        schema_of(shape, standardise=standardise),
        n_arms=shape.n_arms,
        seed=seed,
        rounds=shape.rounds,
        capacity=shape.capacity,
    )


def as_it_is(function: Any) -> Any:
    """Return a kernel as it is, compiled; `plain` is the other form."""
    return function


def position_chosen(held: Any, offer: Offer, form: Form = as_it_is) -> int:
    """Return the place of the chosen arm in the offer, -1 if it is not there."""
    return int(form(_choose)(held, *offer, 1, -1, _NOT_COUNTED))


def voted(held: Any, offer: Offer, votes: int, form: Form = as_it_is) -> np.ndarray:
    """Return how often each arm on offer was chosen."""
    counts = np.zeros(offer.arms.size, np.int64)
    assert form(_choose)(held, *offer, votes, -1, counts) >= 0, "not on offer"
    return counts


def law(held: Any, offer: Offer, form: Form = as_it_is) -> np.ndarray:
    """Return the exact probability of each arm on offer."""
    chances = np.empty(offer.arms.size)
    position, _ = form(_draw)(held, *offer, 0.0, 1.0, -1, 0.0, chances)
    return chances if position >= 0 else np.empty(0)


def learn_one(
    held: Any, case: Case, arm: int, reward: float, form: Form = as_it_is, *, whole: bool = False
) -> None:
    """Let a state learn a reward, with the whole offer if its policy learns from offers."""
    if whole:
        form(_learn_of_offer)(held, *case.offer, arm, reward, case.chance)
        return
    if not isinstance(case.features, np.ndarray):
        form(_learn_sparse)(held, case.context, case.features, arm, reward)
        return
    rows = case.context.reshape(1, -1), case.features.reshape(1, -1)
    form(_learn)(held, *rows, np.array([arm]), np.array([reward]))


learn_all = _learn


# -- the same for a state that nobody holds ------------------------------------------------------


def law_of(state: Any, offer: Offer) -> np.ndarray:
    """Return the exact probability of each arm on offer."""
    return law(_held(state, stream(0)), offer)


def counted(state: Any, offer: Offer, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Return how often each arm on offer was chosen."""
    return voted(_held(state, rng), offer, draws)


def taught(state: Any, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    """Let a state learn a reward."""
    learn_one(_held(state, rng), case, arm, reward)


def _held(state: Any, rng: np.random.Generator) -> Any:
    return hold(state, NO_MOMENTS, rng, rng)
