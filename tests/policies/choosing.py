"""How often a policy pulls each arm, given the rewards that its arms have had."""

from collections.abc import Sequence

import numpy as np

from giro.kernel import is_kernel, kernel, plain
from giro.policy import Policy, choose, start
from giro.seeds import stream

NO_CONTEXT = np.empty(0)


@kernel
def _count(state, counts: np.ndarray, draws: int, rng: np.random.Generator) -> None:
    context = np.empty(0)
    for _ in range(draws):
        counts[choose(state, context, rng)] += 1


def informed(policy: Policy, histories: Sequence[Sequence[float]], rng: np.random.Generator):
    """Return the state after these rewards of each arm."""
    rounds = sum(map(len, histories)) + 1
    state = start(policy, len(histories), 0, rounds, rng)
    for arm, history in enumerate(histories):
        for reward in history:
            plain(type(policy).learn)(state, NO_CONTEXT, arm, float(reward), rng)
    return state


def choice_counts(
    policy: Policy, histories: Sequence[Sequence[float]], *, draws: int, seed: int
) -> np.ndarray:
    """Return how often each arm is chosen after these rewards; the state is the same each time."""
    rng = stream(seed, 1)
    state = informed(policy, histories, stream(seed, 0))
    counts = np.zeros(len(histories), np.int64)
    count = _count if is_kernel(type(policy).choose) else plain(_count)
    count(state, counts, draws, rng)
    return counts


def first_arms(policy: Policy, rewards: Sequence[float], n_arms: int, *, seed: int) -> list[int]:
    """Return the arms chosen when every pull gives the next of these rewards."""
    rng = stream(seed, 2)
    state = start(policy, n_arms, 0, len(rewards), rng)
    arms = []
    for reward in rewards:
        arm = int(plain(type(policy).choose)(state, NO_CONTEXT, rng))
        plain(type(policy).learn)(state, NO_CONTEXT, arm, float(reward), rng)
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
