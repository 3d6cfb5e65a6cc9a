"""Ensemble sampling: a few models, each fitted to its own perturbation of the rewards."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import Count, Positive
from giro.compiling import inline_kernel, kernel
from giro.kernels.draws.continuous import normals, standard_normal
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import argmax
from giro.kernels.regression.design import Design, case_row, design_of, model_of, put_arm, round_row
from giro.kernels.regression.linear_algebra import add_row, dot, set_penalty, solve
from giro.policy import Case, Offer, Policy, Shape

_CENTRE = 0.5  # the middle of the rewards, where the prior of the values is centred


class _State(NamedTuple):
    factor: np.ndarray  # [arm, column, column] U with U'U = λI + Σ x x', λ = (noise/prior sd)²
    moment: np.ndarray  # [arm, model, column] λ times the prior draw + Σ x (perturbed reward)
    workspace: np.ndarray  # [column]
    design: Design
    noise_sd: float
    ranking: np.ndarray  # empty: models tie only by rounding


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    model = int(rng.random() * state.moment.shape[1])
    values, x = np.empty(offer.arms.size), round_row(state.design, offer.context)
    for i in range(values.size):
        arm = put_arm(state.design, offer, i)
        if x.size == 1:  # no contexts: a division instead of solving equations
            values[i] = state.moment[arm, model, 0] / state.factor[arm, 0, 0] ** 2
        else:
            _solve(state, arm, x)
            values[i] = dot(state.workspace, state.moment[arm, model])
    return argmax(values, offer.arms, state.ranking, rng)


@inline_kernel
def _solve(state: _State, arm: int, x: np.ndarray) -> None:
    """Set the workspace to A⁻¹x, whose product with a model's moment is the model's prediction."""
    for j in range(x.size):
        state.workspace[j] = x[j]
    solve(state.factor[arm], state.workspace)


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    """Add the reward to every model, with noise of its own."""
    x, arm = case_row(state.design, case), model_of(state.design, arm)
    if x.size == 1:
        state.factor[arm, 0, 0] = math.sqrt(state.factor[arm, 0, 0] ** 2 + 1.0)
    else:
        add_row(state.factor[arm], x, 1.0, state.workspace)
    moments = state.moment[arm]
    for model in range(moments.shape[0]):
        perturbed = reward - _CENTRE + state.noise_sd * standard_normal(rng)
        for j in range(x.size):
            moments[model, j] += perturbed * x[j]


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    """Return for each arm on offer the share of models that consider it best."""
    models, x = state.moment.shape[1], round_row(state.design, offer.context)
    values = np.empty((models, offer.arms.size))
    for i in range(offer.arms.size):
        arm = put_arm(state.design, offer, i)
        _solve(state, arm, x)
        for model in range(models):
            values[model, i] = dot(state.workspace, state.moment[arm, model])
    shares = np.zeros(offer.arms.size)
    for model in range(models):
        shares += argmax_probabilities(values[model], state.ranking)
    return np.asarray(shares / models)


@dataclass(frozen=True)
class Ensemble(Policy, name="ensemble"):
    """Draws one of its models and pulls the arm that this model considers best.

    Each model starts from its own draw of every arm's N(1/2, prior_sd^2) prior, sees every reward
    with its own N(0, noise_sd^2) added, and values an arm at the posterior mean given these. With
    Gaussian rewards, a model's value would be a draw from the posterior. `noise_sd` is by default
    the largest standard deviation of a reward in [0, 1]. If `prior_sd` is the same, the prior is
    worth one reward. With contexts, an arm's value is 1/2 + x'θ with a N(0, prior_sd^2 I) prior of
    θ.

    Differs from the paper: each arm has its own θ, unless arms have features.
    """

    source = "Lu and Van Roy 2017, Algorithm 1"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)
    uses_arm_features = True

    models: Count = 20
    prior_sd: Positive = field(default=0.5, kw_only=True)
    noise_sd: Positive = field(default=0.5, kw_only=True)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return the models' draws from the prior."""
        prior_pulls = (self.noise_sd / self.prior_sd) ** 2
        drawn = normals(0.0, self.prior_sd, (shape.n_models, self.models, shape.width), rng)
        factor = np.empty((shape.n_models, shape.width, shape.width))
        for arm in range(shape.n_models):
            set_penalty(factor[arm], prior_pulls)
        workspace, ranking = np.empty(shape.width), np.empty(0)
        design, noise_sd = design_of(shape), float(self.noise_sd)
        return _State(factor, prior_pulls * drawn, workspace, design, noise_sd, ranking)
