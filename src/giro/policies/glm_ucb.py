"""GLM-UCB: optimism about the mean of a logistic model (Filippi et al., 2010)."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import argmax, tie_ranking
from giro.kernels.regression.design import Design, case_row, design_of, model_of
from giro.kernels.regression.logistic import sigmoid
from giro.offer import of_arms
from giro.policies._logistic_arms import LogisticArms, empty_logistic_arms, logistic_slope, observe
from giro.policies._widths import OptimisticPolicy, scores_and_widths
from giro.policy import Case, Offer, Shape


class _State(NamedTuple):
    arms: LogisticArms
    width: float  # ρ, or ρ(t) / log(t)^(1/2)
    is_fixed: bool  # whether ρ was given
    design: Design
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    return argmax(_bounds(state, offer), offer.arms, state.ranking, rng)


@kernel
def _bounds(state: _State, offer: Offer) -> np.ndarray:
    """Return μ(x'θ) + ρ(t) (x'M⁻¹x)^(1/2) of each arm on offer."""
    arms, t = state.arms, state.arms.rows.filled[0] + 1
    rho = state.width if state.is_fixed else state.width * math.sqrt(math.log(t))
    bounds, widths = scores_and_widths(state.design, offer, arms.theta, arms.factor, arms.workspace)
    for i in range(bounds.size):
        bounds[i] = sigmoid(bounds[i]) + rho * widths[i]
    return bounds


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    observe(state.arms, case_row(state.design, case), model_of(state.design, arm), reward)


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    return argmax_probabilities(_bounds(state, offer), of_arms(state.ranking, offer.arms))


@dataclass(frozen=True)
class GlmUcb(OptimisticPolicy, name="glm-ucb"):
    """Pulls the arm with the highest mean of a logistic model plus a multiple of its width.

    The mean is μ(x'θ), with θ the maximum likelihood estimate of the arm's parameters. The multiple
    is ρ(t) = (2 k κ R / c) (2 d log(t) log(2 d n / δ))^(1/2) for n rounds, rewards up to R = 1,
    slopes of μ between c and k = 1/4 for parameters no longer than `norm` and contexts no longer
    than 1, and κ = (3 + 2 log(1 + 2 / penalty))^(1/2). `scale` replaces it. Differs from the paper:
    parameters are shared between arms only if arms have features. Likelihood and M have a penalty
    instead of first rounds that make M invertible (in κ it stands for their least eigenvalue) and
    instead of projecting θ.
    """

    source = "Filippi et al. 2010, Algorithm 1"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return models before any reward."""
        d, width = shape.width, self.scale
        if width is None:
            kappa = math.sqrt(3 + 2 * math.log(1 + 2 / self.penalty))
            slopes = logistic_slope(0.0) / logistic_slope(self.norm)
            squared = 2 * d * math.log(2 * d * shape.rounds / self.delta)
            width = 2 * kappa * slopes * math.sqrt(squared)
        return _State(
            empty_logistic_arms(shape.n_models, d, shape.capacity, self.penalty),
            float(width),
            self.scale is not None,
            design_of(shape),
            tie_ranking(self.ties, shape.n_arms, rng),
        )
