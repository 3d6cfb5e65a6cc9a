"""OL2M: optimism with online Newton steps for rewards of one bit (Zhang et al., 2016)."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import argmax, tie_ranking
from giro.kernels.regression.design import Design, case_row, design_of, model_of
from giro.kernels.regression.linear_algebra import add_row, dot, log_det
from giro.kernels.regression.logistic import sigmoid
from giro.kernels.regression.ridge import empty_ridge
from giro.offer import of_arms
from giro.policies._online_newton import OnlineNewtonPolicy, newton_step
from giro.policies._widths import scores_and_widths
from giro.policy import Case, Offer, Shape


class _State(NamedTuple):
    theta: np.ndarray  # [model, feature]
    factor: np.ndarray  # [model, feature, feature] U with U'U = Z
    workspace: np.ndarray  # [feature]
    rewards: np.ndarray  # [model] how many there were
    penalty: float
    b: float  # of the exponential concavity of the loss
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
    """Return x'θ + √γ (x'Z⁻¹x)^(1/2) of each arm on offer."""
    theta, factor, workspace = state.theta, state.factor, state.workspace
    bounds, widths = scores_and_widths(state.design, offer, theta, factor, workspace)
    for i in range(bounds.size):
        bounds[i] += _radius(state, model_of(state.design, offer.arms[i])) * widths[i]
    return bounds


@kernel
def _radius(state: _State, model: int) -> float:
    """Return √γ, or the scale that replaces it."""
    if state.scale >= 0.0:
        return state.scale
    factor, t, b, norm = state.factor[model], state.rewards[model] + 1, state.b, state.norm
    tau = math.log(4 * math.log(t + 1) * t * t / state.delta)
    volume = log_det(factor) - factor.shape[0] * math.log(state.penalty)
    gamma = 8 * norm + state.penalty * norm**2 + (8 / b + 16 * norm / 3) * tau + 2 / b * volume
    return math.sqrt(max(gamma, 0.0))


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    x, model = case_row(state.design, case), model_of(state.design, arm)
    theta, factor = state.theta[model], state.factor[model]
    slope = sigmoid(dot(x, theta)) - reward
    add_row(factor, x, state.b / 2, state.workspace)
    newton_step(factor, theta, x, slope, state.norm)
    state.rewards[model] += 1


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    return argmax_probabilities(_bounds(state, offer), of_arms(state.ranking, offer.arms))


@dataclass(frozen=True)
class Ol2m(OnlineNewtonPolicy, name="ol2m"):
    """Pulls the arm with the highest score that a confidence ellipsoid of a logistic model allows.

    θ moves by an online Newton step with each reward, and is projected to the ball of radius `norm`
    (R). So a reward costs O(d²), and O(d³) where it is projected. The score is
    x'θ + √γ (x'Z⁻¹x)^(1/2), with Z = penalty I + b/2 Σ x x', b = 1 / (2 (1 + exp(R))) and

        γ = 8R + penalty R² + (8/b + 16R/3) τ + (2/b) log(det Z / det(penalty I)),

    τ = log(4 log(t + 1) t² / δ) before an arm's reward number t. It holds with probability
    1 - `delta` for an arm, if contexts are no longer than 1 and rewards are 0 or 1. `scale`
    replaces √γ. Differs from the paper: parameters are shared between arms only if arms have
    features, and τ is that of public code, which is defined for t = 1, too.
    """

    source = "Zhang et al. 2016, Algorithm 1 and Theorem 1"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return models before any reward."""
        ridge = empty_ridge(shape.n_models, shape.width, self.penalty)
        return _State(
            ridge.theta,
            ridge.factor,
            ridge.workspace,
            np.zeros(shape.n_models, np.int64),
            float(self.penalty),
            0.5 / (1 + math.exp(self.norm)),
            float(self.delta),
            float(self.norm),
            -1.0 if self.scale is None else float(self.scale),
            design_of(shape),
            tie_ranking(self.ties, shape.n_arms, rng),
        )
