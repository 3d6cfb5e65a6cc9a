"""Policies that pull an arm more rarely the further it is expected to fall behind the best."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from giro.checks import Share
from giro.compiling import kernel
from giro.kernels.draws.discrete import place_by_chance
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import Ties, tie_ranking
from giro.model import Model
from giro.offer import of_arms
from giro.policies._arm_models import (
    ModelPolicy,
    expected,
    fits_to_choose_now,
    prepare,
    start_any_models,
    take_case,
)
from giro.policy import Case, Offer, Shape

_UNTRIED = 1.0  # prediction for an arm without rewards


class _State(NamedTuple):
    models: Any  # see `giro.policies._arm_models`
    gamma: float
    exponent: float
    by_loss: bool  # whether arms are explored in proportion to the least expected loss
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    prepare(state.models, offer.arms, rng)
    return int(offer.arms[place_by_chance(_probabilities(state, offer), rng)])


@kernel
def _probabilities(state: _State, offer: Offer) -> np.ndarray:
    """Return the probability of each arm on offer, with the remainder shared by the best arms."""
    values, pulls = expected(state.models, offer, _UNTRIED), state.models.pulls.sum()
    gamma = state.gamma * (pulls + 1.0) ** state.exponent
    best = argmax_probabilities(values, of_arms(state.ranking, offer.arms))
    loss = min(max(1.0 - values.max(), 0.0), 1.0) if state.by_loss else 1.0
    return by_inverse_gaps(values, best, gamma, loss)


@kernel
def by_inverse_gaps(values: np.ndarray, best: np.ndarray, gamma: float, loss: float) -> np.ndarray:
    """Return loss / (K loss + γ gap) for each of K arms. The best share the remainder.

    `best` has the shares of the arms with the highest value. They add up to 1.
    """
    k, highest, total = values.size, values.max(), 0.0
    chances = np.empty(k)
    for i in range(k):
        divisor = k * loss + gamma * (highest - values[i])
        chances[i] = (1.0 - best[i]) * (loss / divisor if divisor > 0.0 else 1.0 / k)
        total += chances[i]
    return chances + best * (1.0 - total)


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    take_case(state.models, case, arm, reward, rng)


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    """Return the probability of each arm, or nothing if models are trained before every choice."""
    if fits_to_choose_now(state.models):
        return np.empty(0)
    return _probabilities(state, offer)


@dataclass(frozen=True)
class InverseGapPolicy(ModelPolicy):
    """Pulls an arm with a probability that falls with its gap.

    The gap is the difference between the predictions for the best arm and for this one, and
    γ = `gamma` t^`exponent` in round t. `model` is any of `giro.models`, or from Python a
    scikit-learn estimator. The prediction for an untried arm is 1. Probabilities are exact.

    For worlds that change, only the last `window` rewards of all arms count, or a reward counts
    half as much after every `half_life` further ones (docs/howto/drift.md says how for each model).
    t then counts the rewards that still count, so that exploring never ends.
    """

    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)
    uses_arm_features = True

    if TYPE_CHECKING:  # fields of the subclasses, which have other defaults
        gamma: float
        model: Model

    exponent: Share = field(default=0.5, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)
    window: int | None = field(default=None, kw_only=True)
    half_life: float | None = field(default=None, kw_only=True)

    def start_models(self, shape: Shape, rng: np.random.Generator, *, by_loss: bool) -> _State:
        """Return models before any reward."""
        ranking = tie_ranking(self.ties, shape.n_arms, rng)
        memory = self.memory(shape)
        models = start_any_models(self.model, memory, shape, rng)
        return _State(models, float(self.gamma), float(self.exponent), by_loss, ranking)
