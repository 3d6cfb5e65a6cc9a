"""Ensemble sampling with contexts: linear models that share their gram matrix."""

from typing import NamedTuple

import numpy as np

from giro.kernel import kernel
from giro.kernels.cholesky import solve
from giro.kernels.draws.normal import standard_normal
from giro.kernels.inverse import add_row, set_penalty
from giro.kernels.ties import argmax
from giro.kernels.vectors import add_multiple, dot
from giro.kernels.winning_law import argmax_law
from giro.policy import Context

_CENTRE = 0.5  # the middle of the rewards, where the prior of the values is centred


class _State(NamedTuple):
    factor: np.ndarray  # [arm, feature, feature] U with U'U = λI + Σ x x', λ = (noise/prior sd)²
    moment: np.ndarray  # [model, arm, feature] λ times the prior draw + Σ x (perturbed reward)
    room: np.ndarray  # [feature]
    noise_sd: float
    ranking: np.ndarray  # empty: models tie only by rounding


@kernel
def choose_by_ensemble(state: _State, context: Context, rng: np.random.Generator) -> int:
    """Return the arm that one model, drawn for all arms, values most: x'A⁻¹ moment."""
    models, n_arms, _ = state.moment.shape
    model = int(rng.random() * models)
    values = np.empty(n_arms)
    for arm in range(n_arms):
        state.room[:] = context
        solve(state.factor[arm], state.room)
        values[arm] = _CENTRE + dot(state.room, state.moment[model, arm])
    return argmax(values, state.ranking, rng)


@kernel
def learn_by_ensemble(
    state: _State, context: Context, arm: int, reward: float, rng: np.random.Generator
) -> None:
    """Show every model the reward with noise of its own."""
    add_row(state.factor[arm], context, 1.0, state.room)
    for model in range(state.moment.shape[0]):
        perturbed = reward - _CENTRE + state.noise_sd * standard_normal(rng)
        add_multiple(state.moment[model, arm], perturbed, context)


@kernel
def shares_by_ensemble(state: _State, context: Context) -> np.ndarray:
    """Return the share of models that think each arm best in this context."""
    models, n_arms, d = state.moment.shape
    solved = np.empty((n_arms, d))
    for arm in range(n_arms):
        solved[arm] = context
        solve(state.factor[arm], solved[arm])
    shares, values = np.zeros(n_arms), np.empty(n_arms)
    for model in range(models):
        for arm in range(n_arms):
            values[arm] = _CENTRE + dot(solved[arm], state.moment[model, arm])
        shares += argmax_law(values, state.ranking)
    return np.asarray(shares / models)


def start_ensemble(prior: np.ndarray, prior_pulls: float, noise_sd: float) -> _State:
    """Return the state before the first round, given the models' prior draws of θ."""
    _, n_arms, d = prior.shape
    factor = np.empty((n_arms, d, d))
    for arm in range(n_arms):
        set_penalty(factor[arm], prior_pulls)
    ranking = np.empty(0, np.int64)
    return _State(factor, prior_pulls * prior, np.empty(d), noise_sd, ranking)
