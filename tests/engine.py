"""Giro's engine beside its literal judge: the same histories for both."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from literal import literal_choice, literal_counts
from live_kernels import learn_all, voted

from giro.compiling import kernel
from giro.compiling.held import hold
from giro.kernels.highest.ties import Ties, tie_ranking
from giro.offer import NO_CONTEXT, NO_FEATURES, Case, Offer, Shape
from giro.policies.giro import Giro
from giro.policy import Policy, start


class Setup(NamedTuple):
    """Fixed histories in which decisions are compared."""

    rewards: list[np.ndarray]  # per arm
    a: float
    ties: Ties
    arms: tuple[int, ...] = ()  # those on offer, all if empty

    @property
    def offer(self) -> Offer:
        """What can be chosen."""
        arms = np.array(self.arms or range(len(self.rewards)), np.int64)
        return Offer(arms, NO_CONTEXT, NO_FEATURES)


def counts_by_literal_resampling(
    setup: Setup, ranking: np.ndarray, draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Return how often each arm is chosen."""
    lengths = np.array([rewards.size for rewards in setup.rewards])
    table = np.zeros((lengths.size, max(1, lengths.max())))
    for arm, rewards in enumerate(setup.rewards):
        table[arm, : rewards.size] = rewards
    counts = np.append(np.zeros(lengths.size, np.int64), draws)
    literal_counts(table, lengths, setup.offer.arms, setup.a, ranking, counts, rng)
    return counts[:-1]


def fast_state(setup: Setup, ranking: np.ndarray, rng: np.random.Generator):
    """Return Giro's state after the rewards of the setup, in a random order of arms."""
    sizes = [rewards.size for rewards in setup.rewards]
    shape = Shape(len(sizes), 0, 0, sum(sizes), sum(sizes))
    state = start(Giro(a=setup.a, ties=setup.ties), shape, rng)
    state = state._replace(ranking=ranking)
    turns = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    left = [iter(rewards) for rewards in setup.rewards]
    rewards, nothing = (
        np.array([next(left[arm]) for arm in turns], float),
        np.empty((turns.size, 0)),
    )
    learn_all(hold(state, None, rng, rng), nothing, nothing, turns, rewards)
    return state


def counts_by_giro(
    setup: Setup, ranking: np.ndarray, draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Return how often the engine chooses each arm."""
    state, counts = fast_state(setup, ranking, rng), np.zeros(len(setup.rewards), np.int64)
    counts[setup.offer.arms] = voted(hold(state, None, rng, rng), setup.offer, draws)
    return counts


def ranking_of(setup: Setup, rng: np.random.Generator) -> np.ndarray:
    """Return a tie rule that both sides share."""
    return tie_ranking(setup.ties, len(setup.rewards), rng)


class LiteralState(NamedTuple):
    rewards: np.ndarray  # [arm, i]
    lengths: np.ndarray  # [arm]
    a: float
    ranking: np.ndarray


@kernel
def _choose(state: LiteralState, offer: Offer, rng: np.random.Generator) -> int:
    return literal_choice(state.rewards, state.lengths, offer.arms, state.a, state.ranking, rng)


@kernel
def _learn(
    state: LiteralState, case: Case, arm: int, reward: float, rng: np.random.Generator
) -> None:
    state.rewards[arm, state.lengths[arm]] = reward
    state.lengths[arm] += 1


@dataclass(frozen=True)
class LiteralGiro(Policy):
    """Algorithm 2 as a policy for the simulator."""

    name = "literal"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)

    a: float = 1.0

    def start(self, shape: Shape, rng: np.random.Generator) -> LiteralState:
        rewards, lengths = (
            np.empty((shape.n_arms, shape.capacity)),
            np.zeros(shape.n_arms, np.int64),
        )
        return LiteralState(rewards, lengths, self.a, tie_ranking("random", shape.n_arms, rng))
