"""The arm whose model expects most, and now and then any arm."""

from typing import Any, NamedTuple

import numpy as np

from giro.kernel import kernel
from giro.kernels.bootstrap_counts import REAL
from giro.kernels.contexts import with_bias
from giro.kernels.draws.uniform import integer_below
from giro.kernels.rows import Rows, append_row, empty_rows, positions_of
from giro.kernels.ties import argmax
from giro.kernels.winning_law import argmax_law
from giro.model import Model, Sample, absorb, refit, state_in_python, value
from giro.model import start as start_model
from giro.policy import Context

ABSORBS, SETTLES, GOES_ON = 0, 1, 2  # how a model follows its history, see `start_greedy`


class _State(NamedTuple):
    rows: Rows
    model: Any  # fitted coefficients, a slot an arm
    counts: np.ndarray  # [i, kind] every observed reward once
    follows: int
    one: np.ndarray  # [1] the context where the problem has none
    epsilon: float  # fixed probability of exploring, 0 if it falls
    b: float  # numerator of the falling one, 0 if it is fixed
    ranking: np.ndarray  # order of tied arms


@kernel
def exploring(epsilon: float, b: float, t: int) -> float:
    """Return the probability of exploring in round t."""
    return float(max(epsilon, min(1.0, b / t)))


@kernel
def choose_by_model(state: _State, context: Context, rng: np.random.Generator) -> int:
    """Return any arm with probability ε, else the one whose model expects most."""
    length = state.rows.of_arm.length
    if state.follows == GOES_ON:
        for arm in range(length.size):
            positions = positions_of(state.rows, arm)
            if positions.size > 0:
                taken = state.counts[: positions.size]
                refit(state.model, arm, Sample(state.rows, positions, taken), rng)
    if rng.random() < exploring(state.epsilon, state.b, state.rows.filled[0] + 1):
        return integer_below(length.size, rng)
    values = np.full(length.size, np.inf)
    for arm in range(length.size):
        if length[arm] > 0:
            values[arm] = value(state.model, arm, with_bias(context, state.one))
    return argmax(values, state.ranking, rng)


@kernel
def learn_by_model(
    state: _State, context: Context, arm: int, reward: float, rng: np.random.Generator
) -> None:
    """Add the observation, and let the arm's model follow."""
    append_row(state.rows, with_bias(context, state.one), arm, reward)
    positions = positions_of(state.rows, arm)
    if state.follows == ABSORBS:
        absorb(state.model, arm, Sample(state.rows, positions[-1:], state.counts[:1]), rng)
    elif state.follows == SETTLES:
        taken = state.counts[: positions.size]
        refit(state.model, arm, Sample(state.rows, positions, taken), rng)


def law_by_model(state: _State, context: Context) -> np.ndarray:
    """Return the probability of each arm; empty where a model is trained further to choose."""
    if state.follows == GOES_ON:
        return np.empty(0)
    length = state.rows.of_arm.length
    values = np.full(length.size, np.inf)
    for arm in np.flatnonzero(length):
        values[arm] = value(state.model, int(arm), with_bias(context, state.one))
    epsilon = exploring(state.epsilon, state.b, state.rows.filled[0] + 1)
    return (1.0 - epsilon) * argmax_law(values, state.ranking) + epsilon / length.size


class Schedule(NamedTuple):
    """How likely a round explores, and which of several equal arms is pulled."""

    epsilon: float
    b: float
    ranking: np.ndarray


def start_by_model(
    model: Model,
    schedule: Schedule,
    n_arms: int,
    n_features: int,
    rounds: int,
    rng: np.random.Generator,
) -> Any:
    """Return the state before the first round.

    A model that absorbs rows takes in each as it comes, one that settles is fitted again to the
    history of the pulled arm, and one that goes on (a network) is trained in every round on the
    histories of all arms, as Kveton et al. (2019), Section 6.2, do.
    """
    features = max(n_features, 1)
    counts = np.zeros((rounds, 3), np.int32)
    counts[:, REAL] = 1
    state = _State if model.compiles else state_in_python(_State)
    return state(
        empty_rows(n_arms, features, rounds),
        start_model(model, n_arms, features, rounds, rng),
        counts,
        ABSORBS if model.incremental else SETTLES if model.settled else GOES_ON,
        np.ones(1),
        schedule.epsilon,
        schedule.b,
        schedule.ranking,
    )
