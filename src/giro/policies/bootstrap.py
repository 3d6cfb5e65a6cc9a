"""Bootstrap: giro without pseudo rewards, which can fail forever (Kveton et al., 2019, Lemma 1)."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.errors import BadParameter
from giro.kernel import kernel
from giro.kernels.race import Race, empty_race, set_bootstrap_law, winner
from giro.kernels.race_law import race_law
from giro.kernels.rewards import Rewards, all_binary, entries_of, no_rewards, remember
from giro.kernels.reweight import multinomial_mean
from giro.kernels.ties import Ties, argmax, tie_ranking
from giro.policy import Context, Policy


class _State(NamedTuple):
    rewards: Rewards
    race: Race  # the laws of the arms' values while all rewards are 0 or 1
    pulls: int  # of each arm before the bootstrap begins
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, context: Context, rng: np.random.Generator) -> int:
    length = state.rewards.history.length
    if length[-1] < state.pulls:  # the last arm gets its first pulls last
        for arm in range(length.size):
            if length[arm] < state.pulls:
                return arm
    if all_binary(state.rewards):
        return winner(state.race, state.ranking, rng)
    values = np.empty(state.rewards.total.size)
    for arm in range(values.size):
        values[arm] = multinomial_mean(entries_of(state.rewards, arm, 0, 0), rng)
    return argmax(values, state.ranking, rng)


@kernel
def _learn(
    state: _State, context: Context, arm: int, reward: float, rng: np.random.Generator
) -> None:
    remember(state.rewards, arm, reward)
    set_bootstrap_law(state.race, arm, state.rewards.history.length[arm], state.rewards.total[arm])


def _propensities(state: _State, context: Context) -> np.ndarray:
    length = state.rewards.history.length
    if length[-1] < state.pulls:
        first = int(np.argmax(length < state.pulls))
        return np.asarray(np.arange(length.size) == first, float)
    known = all_binary(state.rewards)
    return race_law(state.race, state.ranking) if known else np.empty(0)


@dataclass(frozen=True)
class Bootstrap(Policy, name="bootstrap"):
    """Pulls the arm with the highest mean in a bootstrap sample of its rewards.

    Each arm is first pulled `pulls` times, the first arm first. Ties go by a fixed rule drawn in
    advance, as the lower bound of the paper's Lemma 1 assumes.
    """

    source = "Kveton et al. 2019, Section 3.1"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    pulls: int = 1
    ties: Ties = field(default="fixed", kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not isinstance(self.pulls, int) or self.pulls < 1:
            raise BadParameter(f"bootstrap needs a whole number pulls >= 1, got pulls={self.pulls}")

    def has_propensities(self, *, n_features: int, binary: bool) -> bool:
        """Tell whether the law is known: while all rewards are 0 or 1."""
        return binary

    def start(self, n_arms: int, n_features: int, rounds: int, rng: np.random.Generator) -> _State:
        """Return empty histories."""
        ranking = tie_ranking(self.ties, n_arms, rng)
        return _State(no_rewards(n_arms, rounds), empty_race(n_arms), self.pulls, ranking)
