"""Giro: garbage in, reward out (Kveton et al., 2019, Algorithm 2)."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.errors import BadParameter
from giro.kernel import kernel
from giro.kernels.history import History, append, empty_history, rewards_of
from giro.kernels.pseudo import pseudo_count
from giro.kernels.resample import resampled_mean
from giro.kernels.ties import Ties, argmax, tie_ranking
from giro.policy import Context, Policy


class _State(NamedTuple):
    history: History  # observed rewards only: pseudo rewards are counted, not stored
    a: float  # pseudo rewards of each kind per pull
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, context: Context, rng: np.random.Generator) -> int:
    values = np.empty(state.history.length.size)
    for arm in range(values.size):
        k = pseudo_count(state.a, state.history.length[arm], rng)
        values[arm] = resampled_mean(rewards_of(state.history, arm), k, rng)
    return argmax(values, state.ranking, rng)


@kernel
def _learn(
    state: _State, context: Context, arm: int, reward: float, rng: np.random.Generator
) -> None:
    append(state.history, arm, reward)


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
        ranking = tie_ranking(self.ties, n_arms, rng)
        return _State(empty_history(n_arms, rounds), float(self.a), ranking)
