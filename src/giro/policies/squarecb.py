"""SquareCB: pull an arm more rarely the further it is expected to fall behind the best."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from giro.checks import NOT_NEGATIVE, SHARE, check
from giro.compiling import kernel
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import Ties, tie_ranking
from giro.model import Model
from giro.models.hashed import Hashed
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
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    prepare(state.models, offer.arms, rng)
    remainder, chances = rng.random(), _probabilities(state, offer)
    for i in range(chances.size - 1):
        remainder -= chances[i]
        if remainder < 0.0:
            return int(offer.arms[i])
    return int(offer.arms[chances.size - 1])


@kernel
def _probabilities(state: _State, offer: Offer) -> np.ndarray:
    """Return 1 / (K + γ gap) for each of K arms, with the remainder shared by the best arms."""
    values, pulls = expected(state.models, offer, _UNTRIED), state.models.pulls.sum()
    gamma, k, total = state.gamma * (pulls + 1.0) ** state.exponent, values.size, 0.0
    best = argmax_probabilities(values, of_arms(state.ranking, offer.arms))
    highest, chances = values.max(), np.empty(k)
    for i in range(k):
        chances[i] = (1.0 - best[i]) / (k + gamma * (highest - values[i]))
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
class SquareCb(ModelPolicy, name="squarecb"):
    """Pulls each of K arms with probability 1 / (K + γ gap), and the best with the remainder.

    This is inverse gap weighting. The gap is the difference between the predictions for the best
    arm and for this one, and γ = `gamma` t^`exponent` in round t. `model` is any of `giro.models`,
    or from Python a scikit-learn estimator. The prediction for an untried arm is 1. Probabilities
    are exact. Differs from the paper: γ grows with the rounds instead of being fixed in advance,
    and tied best arms share the remainder.

    For worlds that change, only the last `window` rewards of all arms count, or a reward counts
    half as much after every `half_life` further ones (docs/howto/drift.md says how for each model).
    t then counts the rewards that still count, so that exploring never ends.
    """

    source = "Foster and Rakhlin 2020, Algorithm 1; Abe and Long 1999"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)
    uses_arm_features = True

    gamma: float = 10.0
    model: Model = Hashed()  # noqa: RUF009  # frozen
    exponent: float = field(default=0.5, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)
    window: int | None = field(default=None, kw_only=True)
    half_life: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters and wrap an estimator."""
        check(self.name, NOT_NEGATIVE, gamma=self.gamma)
        check(self.name, SHARE, exponent=self.exponent)
        super().__post_init__()

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return models before any reward."""
        ranking = tie_ranking(self.ties, shape.n_arms, rng)
        memory = self.memory(shape)
        models = start_any_models(self.model, memory, shape, rng)
        return _State(models, float(self.gamma), float(self.exponent), ranking)
