"""GLOC: a confidence set for a logistic model from online Newton steps (Jun et al., 2017)."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import argmax, tie_ranking
from giro.kernels.regression.design import Design, case_row, design_of, model_of
from giro.kernels.regression.linear_algebra import dot
from giro.kernels.regression.logistic import sigmoid
from giro.kernels.regression.ridge import Ridge, empty_ridge, observe
from giro.offer import of_arms
from giro.policies._logistic_arms import logistic_slope
from giro.policies._online_newton import OnlineNewtonPolicy, newton_step
from giro.policies._widths import NOISE, scores_and_widths
from giro.policy import Case, Offer, Shape


class _State(NamedTuple):
    ridge: Ridge  # V, and θ̂ = V⁻¹ Σ z x
    theta: np.ndarray  # [model, feature] of the online Newton steps
    squares: np.ndarray  # [model] Σ z²
    bound: np.ndarray  # [model] B, of the regret of the online steps
    penalty: float
    kappa: float  # the least slope
    delta: float
    norm: float
    scale: float  # radius of the confidence set, or less than 0 where it follows from delta
    design: Design
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    return argmax(_bounds(state, offer), offer.arms, state.ranking, rng)


@kernel
def _bounds(state: _State, offer: Offer) -> np.ndarray:
    """Return x'θ̂ + √β (x'V⁻¹x)^(1/2) of each arm on offer."""
    theta, factor, workspace = state.ridge.theta, state.ridge.factor, state.ridge.workspace
    bounds, widths = scores_and_widths(state.design, offer, theta, factor, workspace)
    for i in range(bounds.size):
        bounds[i] += _radius(state, model_of(state.design, offer.arms[i])) * widths[i]
    return bounds


@kernel
def _radius(state: _State, model: int) -> float:
    """Return √β, or the scale that replaces it."""
    if state.scale >= 0.0:
        return state.scale
    b, kappa, delta = state.bound[model], state.kappa, state.delta
    inside = 1 + 2 * b / kappa + 4 * NOISE**4 / (kappa**4 * delta**2)
    alpha = 1 + 4 * b / kappa + 8 * NOISE**2 / kappa**2 * math.log(2 / delta * math.sqrt(inside))
    explained = dot(state.ridge.theta[model], state.ridge.moment[model])
    beta = alpha + state.penalty * state.norm**2 - (state.squares[model] - explained)
    return math.sqrt(max(beta, 0.0))


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    x, model = case_row(state.design, case), model_of(state.design, arm)
    theta = state.theta[model]
    z = dot(x, theta)
    g = sigmoid(z) - reward
    observe(state.ridge, x, model, z)
    state.squares[model] += z * z
    width = newton_step(state.ridge.factor[model], theta, x, g / state.kappa, state.norm)
    state.bound[model] += g * g * width / (2 * state.kappa)


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    return argmax_probabilities(_bounds(state, offer), of_arms(state.ranking, offer.arms))


@dataclass(frozen=True)
class Gloc(OnlineNewtonPolicy, name="gloc"):
    """Pulls the arm with the highest score that a confidence set of a logistic model allows.

    An online learner predicts each score, z = x'θ, before it moves θ by an online Newton step, and
    θ̂ is the ridge regression of these predictions. So a reward costs O(d²), and O(d³) if θ has to
    be projected to the ball of radius `norm` (S), where `ucb-glm` fits to the whole past. The score
    is x'θ̂ + √β (x'V⁻¹x)^(1/2), with V = penalty I + Σ x x' and the β of Theorem 1 for the regret
    bound of the online steps in Theorem 3. It holds with probability 1 - `delta` for an arm whose
    parameters are no longer than `norm`, if rewards lie in [0, 1] (R = 1/2) and the slope of the
    logistic function is at least κ, that at `norm`, for contexts no longer than 1. `scale` replaces
    √β. Differs from the paper: parameters are shared between arms only if arms have features, and
    the online steps have the penalty of V.
    """

    source = "Jun et al. 2017, Algorithms 1 and 2"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return models before any reward."""
        n, d, kappa = shape.n_models, shape.width, logistic_slope(self.norm)
        return _State(
            empty_ridge(n, d, self.penalty),
            np.zeros((n, d)),
            np.zeros(n),
            np.full(n, 2 * kappa * self.norm**2 * self.penalty),
            float(self.penalty),
            kappa,
            float(self.delta),
            float(self.norm),
            -1.0 if self.scale is None else float(self.scale),
            design_of(shape),
            tie_ranking(self.ties, shape.n_arms, rng),
        )
