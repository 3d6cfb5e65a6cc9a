"""How often a policy pulls each arm, given the rewards that its arms have had."""

from collections.abc import Sequence

import numpy as np
from live_kernels import as_it_is, moments_for, voted

from giro.compiling import plain
from giro.compiling.held import HeldInPython, hold
from giro.offer import NO_CONTEXT, NO_FEATURES, Case, Offer, Shape, offer_of
from giro.policy import Policy, start
from giro.seeds import stream

NO_CASE = Case(NO_CONTEXT, NO_CONTEXT)


def shape_for(n_arms: int, rounds: int) -> Shape:
    """Return the shape of states without contexts."""
    return Shape(n_arms, 0, 0, rounds, rounds)


def informed(policy: Policy, histories: Sequence[Sequence[float]], rng: np.random.Generator):
    """Return the state after these rewards of each arm."""
    rounds = sum(map(len, histories)) + 1
    state = start(policy, shape_for(len(histories), rounds), rng)
    for arm, history in enumerate(histories):
        for reward in history:
            plain(policy.functions().learn)(state, NO_CASE, arm, float(reward), rng)
    return state


def choice_counts(
    policy: Policy,
    histories: Sequence[Sequence[float]],
    *,
    draws: int,
    seed: int,
    arms: Sequence[int] | None = None,
) -> np.ndarray:
    """Return how often each arm is chosen after these rewards; the state is the same each time.

    `arms` are on offer, or all.
    """
    rng, compiled = stream(seed, 1), policy.functions().compiled
    state = informed(policy, histories, stream(seed, 0))
    moments = moments_for(policy, shape_for(len(histories), 1))
    held = (hold if compiled else HeldInPython)(state, moments, rng, rng)
    offer, counts = some_arms(arms or len(histories)), np.zeros(len(histories), np.int64)
    counts[offer.arms] = voted(held, offer, draws, as_it_is if compiled else plain)
    return counts


def some_arms(arms: int | Sequence[int]) -> Offer:
    """Return the offer of these arms, or of that many, of which nothing is known."""
    if isinstance(arms, int):
        return offer_of(arms)
    return Offer(np.array(arms, np.int64), NO_CONTEXT, NO_FEATURES)


def first_arms(policy: Policy, rewards: Sequence[float], n_arms: int, *, seed: int) -> list[int]:
    """Return the arms chosen when every pull gives the next of these rewards."""
    rng = stream(seed, 2)
    state = start(policy, shape_for(n_arms, len(rewards)), rng)
    functions, offer = policy.functions(), offer_of(n_arms)
    arms = []
    for reward in rewards:
        arm = int(plain(functions.choose)(state, offer, rng))
        plain(functions.learn)(state, NO_CASE, arm, float(reward), rng)
        arms.append(arm)
    return arms


def winner_law(values: Sequence[np.ndarray], laws: Sequence[np.ndarray]) -> np.ndarray:
    """Return the probability that each arm has the highest of independent values, ties shared.

    Arm i takes `values[i][j]` with probability `laws[i][j]`.
    """
    winners = np.zeros(len(values))
    for picks in np.ndindex(*(law.size for law in laws)):
        probability = np.prod([law[j] for law, j in zip(laws, picks, strict=True)])
        drawn = np.array([value[j] for value, j in zip(values, picks, strict=True)])
        best = drawn == drawn.max()
        winners[best] += probability / best.sum()
    return winners
