"""The arm whose model expects most, and now and then any arm.

States that hold a model in Python cannot be handed to another kernel: hence no helpers that take
the whole state.
"""

from typing import Any, NamedTuple

import numpy as np

from giro.compiling import form_for, inline_kernel, kernel
from giro.kernels.draws.uniform import integer_below
from giro.kernels.giro.bootstrap_counts import REAL
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import argmax
from giro.kernels.regression.design import Design, case_row, design_of, model_of, put_arm, round_row
from giro.kernels.regression.rows import Rows, append_row, empty_rows, positions_of, set_only_row
from giro.model import Model, Sample, partial_fit, refit, value
from giro.model import start as start_model
from giro.offer import of_arms
from giro.policy import Case, Offer, Shape

INCREMENTAL, SETTLES, GOES_ON = 0, 1, 2  # how a model follows its history, see `start_greedy`


class _State(NamedTuple):
    rows: Rows  # only the last one, if the model is incremental
    pulls: np.ndarray  # [model] rows so far
    model: Any  # fitted coefficients, a slot for each model
    counts: np.ndarray  # [i, kind] every observed reward once
    only: np.ndarray  # [1] number of the only row, 0
    follows: int
    design: Design
    epsilon: float  # fixed probability of exploring, 0 if it falls
    b: float  # numerator of the falling one, 0 if it is fixed
    ranking: np.ndarray  # order of tied arms


@kernel
def exploring(epsilon: float, b: float, t: int) -> float:
    """Return the probability of exploring in round t."""
    return float(max(epsilon, min(1.0, b / t)))


@kernel
def choose_by_model(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    """Return any arm with probability ε, else the one whose model expects most."""
    if state.follows == GOES_ON:
        for i in range(1 if state.design.shared else offer.arms.size):
            model = model_of(state.design, offer.arms[i])
            positions = positions_of(state.rows, model)
            if positions.size > 0:
                taken = state.counts[: positions.size]
                refit(state.model, model, Sample(state.rows, positions, taken), rng)
    if rng.random() < exploring(state.epsilon, state.b, state.pulls.sum() + 1):
        return int(offer.arms[integer_below(offer.arms.size, rng)])
    values, x = np.full(offer.arms.size, np.inf), round_row(state.design, offer.context)
    for i in range(values.size):
        model = put_arm(state.design, offer, i)
        if state.pulls[model] > 0:
            values[i] = value(state.model, model, x)
    return argmax(values, offer.arms, state.ranking, rng)


@inline_kernel
def _values(state: _State, offer: Offer) -> np.ndarray:
    """Return what the model of each arm on offer expects, infinity of an arm never pulled."""
    values, x = np.full(offer.arms.size, np.inf), round_row(state.design, offer.context)
    for i in range(values.size):
        model = put_arm(state.design, offer, i)
        if state.pulls[model] > 0:
            values[i] = value(state.model, model, x)
    return values


@kernel
def learn_by_model(
    state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator
) -> None:
    """Add the observation, and let the arm's model follow."""
    x, model = case_row(state.design, case), model_of(state.design, arm)
    state.pulls[model] += 1
    if state.follows == INCREMENTAL:
        set_only_row(state.rows, x, reward)
        partial_fit(state.model, model, Sample(state.rows, state.only, state.counts[:1]), rng)
        return
    append_row(state.rows, x, model, reward)
    if state.follows == SETTLES:
        positions = positions_of(state.rows, model)
        taken = state.counts[: positions.size]
        refit(state.model, model, Sample(state.rows, positions, taken), rng)


def propensities_by_model(state: _State, offer: Offer) -> np.ndarray:
    """Return the probability of each arm; empty where a model is trained further to choose."""
    if state.follows == GOES_ON:
        return np.empty(0)
    best = argmax_probabilities(
        form_for(state, _values)(state, offer), of_arms(state.ranking, offer.arms)
    )
    epsilon = exploring(state.epsilon, state.b, state.pulls.sum() + 1)
    return (1.0 - epsilon) * best + epsilon / offer.arms.size


class Schedule(NamedTuple):
    """How likely a round explores, and which of several equal arms is pulled."""

    epsilon: float
    b: float
    ranking: np.ndarray


def start_by_model(
    model: Model, schedule: Schedule, shape: Shape, rng: np.random.Generator
) -> _State:
    """Return the state before the first round.

    An incremental model takes in each row as it comes, a deterministic one is fitted again to the
    history of the pulled arm, and one that goes on (a network) is trained in every round on the
    histories of all arms, as Kveton et al. (2019), Section 6.2, do.
    """
    kept = 1 if model.incremental else shape.capacity
    counts = np.zeros((kept, 3), np.int32)
    counts[:, REAL] = 1
    return _State(
        empty_rows(shape.n_models, shape.width, kept),
        np.zeros(shape.n_models, np.int64),
        start_model(model, shape.n_models, shape.width, shape.capacity, rng),
        counts,
        np.zeros(1, np.int64),
        INCREMENTAL if model.incremental else SETTLES if model.deterministic else GOES_ON,
        design_of(shape),
        schedule.epsilon,
        schedule.b,
        schedule.ranking,
    )
