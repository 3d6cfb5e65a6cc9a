"""Giro: garbage in, reward out (Kveton et al., 2019, Algorithm 2)."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.errors import BadParameter
from giro.kernel import kernel
from giro.kernels.contest import contest
from giro.kernels.draft import Draft, add, begin, empty_draft
from giro.kernels.pseudo import pseudo_count_law
from giro.kernels.race import Race, empty_race, set_law, settle, winner
from giro.kernels.ties import Ties, tie_ranking
from giro.policy import Context, Policy


class _State(NamedTuple):
    draft: Draft  # histories of observed rewards: pseudo rewards are counted, not stored
    race: Race  # the laws of the arms' values while all rewards are 0 or 1
    a: float  # pseudo rewards of each kind per pull
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, context: Context, rng: np.random.Generator) -> int:
    if is_race(state):
        return winner(state.race, state.ranking, rng)
    begin(state.draft, state.a, rng)
    return contest(state.draft, state.ranking, rng)


@kernel
def _learn(
    state: _State, context: Context, arm: int, reward: float, rng: np.random.Generator
) -> None:
    add(state.draft, arm, reward)
    if is_race(state):
        _enter_race(state, arm)


@kernel
def is_race(state: _State) -> bool:
    """Tell whether all rewards so far are 0 or 1, so that none had to be stored."""
    return bool(state.draft.rewards.used[0] == 0)


@kernel
def _enter_race(state: _State, arm: int) -> None:
    """Set the binomial law of the arm's value: m = s + 2k draws of which (ones + k) / m are 1."""
    s, ones = state.draft.arms[arm].pulls, state.draft.arms[arm].total
    floor, share = pseudo_count_law(state.a, s)
    for variant in range(2):
        k = floor + variant
        m = s + 2 * k
        set_law(state.race, arm, variant, 0.0, m, (ones + k) / m, m)
    settle(state.race, arm, share)


@dataclass(frozen=True)
class Giro(Policy, name="giro"):
    """Pulls the arm with the highest mean in a bootstrap sample of its history and `a` pseudo \
rewards 0 and 1 per pull."""

    source = "Kveton et al. 2019, Algorithm 2"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)

    a: float = 1.0
    ties: Ties = field(default="random", kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not 0.0 <= self.a < np.inf:
            raise BadParameter(f"giro needs a finite a >= 0, got a={self.a}")

    def start(
        self, n_arms: int, n_features: int, rounds: int, rng: np.random.Generator
    ) -> _State:
        """Return empty histories."""
        return _State(
            empty_draft(n_arms, rounds),
            empty_race(n_arms),
            float(self.a),
            tie_ranking(self.ties, n_arms, rng),
        )
