"""UCB-GLM: optimism about the score of a logistic model (Li et al., 2017, Algorithm 1)."""

import math
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

import numpy as np

from giro.checks import optional, whole
from giro.compiling import kernel
from giro.kernels.draws.uniform import integer_below
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import argmax, tie_ranking
from giro.kernels.regression.design import Design, case_row, design_of, model_of
from giro.offer import of_arms
from giro.policies._logistic_arms import LogisticArms, empty_logistic_arms, logistic_slope, observe
from giro.policies._widths import NOISE, OptimisticPolicy, scores_and_widths
from giro.policy import Case, Offer, Shape


class _State(NamedTuple):
    arms: LogisticArms
    alpha: float
    tau: int  # rewards of arms drawn uniformly; -1 for as many as there are parameters
    design: Design
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    if _draws(state, offer):
        return int(offer.arms[integer_below(offer.arms.size, rng)])
    return argmax(_bounds(state, offer), offer.arms, state.ranking, rng)


@kernel
def _draws(state: _State, offer: Offer) -> bool:
    """Return whether arms are still drawn uniformly."""
    parameters = state.design.row.size * (1 if state.design.shared else offer.arms.size)
    tau = state.tau if state.tau >= 0 else parameters
    return bool(state.arms.rows.filled[0] < tau)


@kernel
def _bounds(state: _State, offer: Offer) -> np.ndarray:
    """Return x'θ + α (x'V⁻¹x)^(1/2) of each arm on offer."""
    arms = state.arms
    scores, widths = scores_and_widths(state.design, offer, arms.theta, arms.factor, arms.workspace)
    return scores + state.alpha * widths


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    observe(state.arms, case_row(state.design, case), model_of(state.design, arm), reward)


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    if _draws(state, offer):
        return np.full(offer.arms.size, 1.0 / offer.arms.size)
    return argmax_probabilities(_bounds(state, offer), of_arms(state.ranking, offer.arms))


@dataclass(frozen=True)
class UcbGlm(OptimisticPolicy, name="ucb-glm"):
    """Pulls the arm with the highest score x'θ of a logistic model plus a multiple of its width.

    The first `tau` rewards are those of arms drawn uniformly. Then θ is the maximum likelihood
    estimate of the arm's parameters and the multiple is that of Theorem 2,
    α = (σ / κ) (d/2 log(1 + 2n/d) + log(1/δ))^(1/2), for n rounds, σ = 1/2, and the least slope κ
    of the logistic function within 1 of parameters no longer than `norm`, for contexts no longer
    than 1. `scale` replaces it. Differs from the paper: parameters are shared between arms only if
    arms have features. Likelihood and V have a penalty, because V may stay singular. The paper's
    condition for `tau` depends on unknown quantities, so its default is the number of parameters of
    the arms on offer.
    """

    source = "Li et al. 2017, Algorithm 1"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    tau: Annotated[int | None, optional(whole(0))] = field(default=None, kw_only=True)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return models before any reward."""
        d, alpha = shape.width, self.scale
        if alpha is None:
            squared = d / 2 * math.log(1 + 2 * shape.rounds / d) - math.log(self.delta)
            alpha = NOISE / logistic_slope(self.norm + 1.0) * math.sqrt(squared)
        return _State(
            empty_logistic_arms(shape.n_models, d, shape.capacity, self.penalty),
            float(alpha),
            -1 if self.tau is None else self.tau,
            design_of(shape),
            tie_ranking(self.ties, shape.n_arms, rng),
        )
