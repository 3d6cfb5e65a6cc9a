"""Greedy choice by models, with random arms now and then."""

from typing import Any, NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.draws.uniform import integer_below
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import argmax
from giro.kernels.memory import Memory
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
from giro.policy import Case, Functions, Offer, Shape


class _State(NamedTuple):
    models: Any  # see `giro.policies._arm_models`
    epsilon: float  # fixed probability of exploring, 0 if it falls
    b: float  # numerator of the falling one, 0 if it is fixed
    ranking: np.ndarray  # order of tied arms


@kernel
def exploring(epsilon: float, b: float, t: int) -> float:
    """Return the probability of exploring in round t."""
    return float(max(epsilon, min(1.0, b / t)))


@kernel
def choose_by_model(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    """Return any arm with probability ε, otherwise the arm with the highest prediction."""
    prepare(state.models, offer.arms, rng)
    if rng.random() < exploring(state.epsilon, state.b, state.models.pulls.sum() + 1):
        return int(offer.arms[integer_below(offer.arms.size, rng)])
    return argmax(expected(state.models, offer, np.inf), offer.arms, state.ranking, rng)


@kernel
def learn_by_model(
    state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator
) -> None:
    """Update the arm's model with the observation."""
    take_case(state.models, case, arm, reward, rng)


@kernel
def propensities_by_model(state: _State, offer: Offer) -> np.ndarray:
    """Return the probability of each arm, or nothing if models are trained before every choice."""
    if fits_to_choose_now(state.models):
        return np.empty(0)
    values = expected(state.models, offer, np.inf)
    best = argmax_probabilities(values, of_arms(state.ranking, offer.arms))
    epsilon = exploring(state.epsilon, state.b, state.models.pulls.sum() + 1)
    return (1.0 - epsilon) * best + epsilon / offer.arms.size


def start_by_model(
    model: Model,
    memory: Memory,
    epsilon: float,
    b: float,
    ranking: np.ndarray,
    shape: Shape,
    rng: np.random.Generator,
) -> _State:
    """Return the state before the first round, see `start_any_models`."""
    return _State(start_any_models(model, memory, shape, rng), epsilon, b, ranking)


class MeansOrModels(ModelPolicy):
    """Base class of policies that go by means, or by a `model` if there is one."""

    @property
    def uses_contexts(self) -> bool:  # type: ignore[override]  # known with the model
        """Whether there is a model."""
        return self.model is not None

    @property
    def uses_arm_features(self) -> bool:  # type: ignore[override]  # likewise
        """Whether there is a model, which all arms can share."""
        return self.model is not None

    def functions(self) -> Functions:
        """Return the functions for means or for models."""
        if self.model is None:
            return super().functions()
        functions = Functions(choose_by_model, learn_by_model, propensities_by_model)
        return functions if self.compiles else functions.in_python
