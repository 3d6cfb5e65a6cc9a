"""ε-greedy: pull the arm with the highest mean, and now and then any arm."""

from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import numpy as np

from giro.checks import NOT_NEGATIVE, SHARE, optional
from giro.compiling import kernel
from giro.errors import BadParameter
from giro.kernels.draws.uniform import integer_below
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import Ties, argmax, tie_ranking
from giro.kernels.memory import KNOWN, exchange, fade
from giro.model import Model
from giro.offer import of_arms
from giro.policies._arm_models import empty_pulls
from giro.policies._greedy_models import MeansOrModels, exploring, start_by_model
from giro.policy import Case, Offer, Shape

_PAPER_SHARE = 0.01  # Kveton et al. (2019), Section 6.2


@kernel
def means_of(pulls: np.ndarray, total: np.ndarray, arms: np.ndarray) -> np.ndarray:
    """Return the mean reward of each of these arms, infinity for an arm never pulled."""
    means = np.full(arms.size, np.inf)
    for i in range(arms.size):
        if pulls[arms[i]] >= KNOWN:
            means[i] = total[arms[i]] / pulls[arms[i]]
    return means


class _State(NamedTuple):
    pulls: np.ndarray  # [arm] rewards that count
    total: np.ndarray  # [arm] their sum
    memory: Any  # which rewards count, see `giro.kernels.memory`
    epsilon: float  # fixed probability of exploring, 0 if it falls
    b: float  # numerator of the falling one, 0 if it is fixed
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    if rng.random() < _epsilon(state):
        return int(offer.arms[integer_below(offer.arms.size, rng)])
    means = means_of(state.pulls, state.total, offer.arms)
    return argmax(means, offer.arms, state.ranking, rng)


@kernel
def _epsilon(state: _State) -> float:
    """Return the probability of exploring in this round."""
    return exploring(state.epsilon, state.b, state.pulls.sum() + 1)


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    gone, its_reward = exchange(state.memory, arm, reward)
    if gone >= 0:
        state.pulls[gone] -= 1
        state.total[gone] = state.total[gone] - its_reward if state.pulls[gone] > 0 else 0.0
    fade(state.memory, state.pulls, 0.0)
    fade(state.memory, state.total, 0.0)
    state.pulls[arm] += 1
    state.total[arm] += reward


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    means = means_of(state.pulls, state.total, offer.arms)
    greedy = argmax_probabilities(means, of_arms(state.ranking, offer.arms))
    epsilon = _epsilon(state)
    return (1.0 - epsilon) * greedy + epsilon / offer.arms.size


def b_for_share(share: float, rounds: int) -> float:
    """Return the b for which the ε_t = min(1, b/t) of all rounds sum to share × rounds.

    Between whole numbers m and m + 1 that sum is linear in b: m + b (1/(m+1) + ... + 1/rounds).

    >>> b_for_share(0.75, 2)  # ε is 1 and then 1/2
    1.0
    """
    if share * rounds >= rounds:
        return float(rounds)
    t = np.arange(1, rounds + 1)
    tails = np.append(np.cumsum(1.0 / t[::-1])[::-1], 0.0)  # [m] 1/(m+1) + ... + 1/rounds
    sums = np.arange(rounds + 1) * (1.0 + tails)  # [m] the sum for b = m
    m = int(np.searchsorted(sums, share * rounds, side="right")) - 1
    return float((share * rounds - m) / tails[m])


@dataclass(frozen=True)
class EpsilonGreedy(MeansOrModels, name="epsilon-greedy"):
    """Pulls any arm with probability ε, otherwise the one with the highest mean or prediction.

    ε is fixed (`epsilon`), or it is min(1, b/t) in round t (`b`), or b follows from the expected
    share of exploring rounds (`share`). At most one of the three is given. The default is a share
    of 1%, as in Kveton et al. (2019), Section 6.2. An arm that was never pulled has the highest
    mean. With a `model` (linear, logistic, network, or from Python a scikit-learn estimator), the
    mean is the prediction of the arm's model, fitted to its history, in the context.

    For worlds that change, only the last `window` rewards of all arms count, or a reward counts
    half as much after every `half_life` further ones (docs/howto/drift.md says how for each model).
    Then t counts the rewards that still count, so that a falling ε stops falling, and an arm of
    which less than half a reward is left has the highest mean.
    """

    source = "Auer et al. 2002, Figure 3"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    epsilon: Annotated[float | None, optional(SHARE)] = None
    b: Annotated[float | None, optional(NOT_NEGATIVE)] = None
    share: Annotated[float | None, optional(SHARE)] = None
    model: Model | None = None
    ties: Ties = field(default="random", kw_only=True)
    window: int | None = field(default=None, kw_only=True)
    half_life: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters. The default is the paper's share."""
        given = [value for value in (self.epsilon, self.b, self.share) if value is not None]
        if len(given) > 1:
            raise BadParameter("epsilon-greedy takes one of epsilon, b and share, not several")
        super().__post_init__()
        if not given:
            object.__setattr__(self, "share", _PAPER_SHARE)

    @property
    def needs_rounds(self) -> bool:  # type: ignore[override]  # here it depends on parameters
        """Whether b follows from the number of rounds."""
        return self.share is not None

    def start(self, shape: Shape, rng: np.random.Generator) -> Any:
        """Return empty histories and the schedule of ε."""
        n_arms = shape.n_arms
        b = self.b or 0.0 if self.share is None else b_for_share(self.share, shape.rounds)
        epsilon, ranking = float(self.epsilon or 0.0), tie_ranking(self.ties, n_arms, rng)
        if self.model is not None:
            memory = self.memory(shape)
            return start_by_model(self.model, memory, epsilon, float(b), ranking, shape, rng)
        memory = self.memory(shape, rows=False)
        pulls = empty_pulls(n_arms, memory)
        return _State(pulls, np.zeros(n_arms), memory, epsilon, float(b), ranking)
