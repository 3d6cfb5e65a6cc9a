"""Linear regressions whose noise has an unknown variance: the posterior of all their parameters.

With P = penalty I + Σ x x', m = P⁻¹ Σ r x and s rewards of a model, σ² is inverse gamma with shape
a + s/2 and scale b + (Σ r² - m'P m) / 2, and β is N(m, σ² P⁻¹) given σ².
"""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import Count, Positive
from giro.compiling import kernel
from giro.kernels.draws.continuous import standard_gamma, standard_normal
from giro.kernels.highest.ties import Ties
from giro.kernels.regression.design import Design, model_of
from giro.kernels.regression.linear_algebra import dot, squared_width
from giro.kernels.regression.ridge import Ridge, drawn_theta, empty_ridge, observe
from giro.offer import Offer
from giro.policy import Policy

_LEAST = 1e-300  # in place of a gamma draw that is too small for a float


@dataclass(frozen=True)
class PosteriorPolicy(Policy):
    """Parameters of policies that draw from such a posterior."""

    uses_arm_features = True

    penalty: Positive = field(default=0.25, kw_only=True)
    a: Positive = field(default=6.0, kw_only=True)
    b: Positive = field(default=6.0, kw_only=True)
    initial: Count = field(default=2, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)

    def posterior(self, n_models: int, n_columns: int) -> "Posterior":
        """Return the prior of each model."""
        return Posterior(
            empty_ridge(n_models, n_columns, self.penalty),
            np.zeros(n_models, np.int64),
            np.zeros(n_models),
            float(self.a),
            float(self.b),
            float(self.penalty),
            int(self.initial),
        )


class Posterior(NamedTuple):
    """What the rewards of each model say, and the prior."""

    ridge: Ridge  # P as U'U, Σ r x, and m
    pulls: np.ndarray  # [model]
    squares: np.ndarray  # [model] Σ r²
    a: float
    b: float
    penalty: float
    initial: int  # rewards of a model before it is drawn from


@kernel
def take_reward(posterior: Posterior, x: np.ndarray, model: int, reward: float) -> None:
    """Learn one reward of the model."""
    observe(posterior.ridge, x, model, reward)
    posterior.pulls[model] += 1
    posterior.squares[model] += reward * reward


@kernel
def drawn_values(
    posterior: Posterior, rows: np.ndarray, design: Design, offer: Offer, rng: np.random.Generator
) -> np.ndarray:
    """Return x'β for each row, an arm's on offer, or infinity for models with too few rewards.

    Where these are, nothing is drawn. One β is drawn for all arms if they share it.
    """
    values, ridge, has_untried = np.zeros(offer.arms.size), posterior.ridge, False
    for i in range(values.size):
        if posterior.pulls[model_of(design, offer.arms[i])] < posterior.initial:
            values[i] = np.inf
            has_untried = True
    if has_untried:
        return values
    if design.shared:
        beta = drawn_theta(ridge, 0, _drawn_sd(posterior, 0, rng), rng)
        for i in range(values.size):
            values[i] = dot(rows[i], beta)
        return values
    for i in range(values.size):
        model = offer.arms[i]
        width = math.sqrt(squared_width(ridge.factor[model], rows[i], ridge.workspace))
        sd = width * _drawn_sd(posterior, model, rng)
        values[i] = dot(rows[i], ridge.theta[model]) + sd * standard_normal(rng)
    return values


@kernel
def _drawn_sd(posterior: Posterior, model: int, rng: np.random.Generator) -> float:
    """Return a draw of σ."""
    explained = dot(posterior.ridge.theta[model], posterior.ridge.moment[model])
    scale = posterior.b + 0.5 * max(posterior.squares[model] - explained, 0.0)
    draw = standard_gamma(posterior.a + 0.5 * posterior.pulls[model], rng)
    return math.sqrt(scale / max(draw, _LEAST))
