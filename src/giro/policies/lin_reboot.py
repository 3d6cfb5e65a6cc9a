"""LinReBoot: exploration by a bootstrap of residuals of a linear model (Wu et al., 2022)."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import Positive
from giro.compiling import kernel
from giro.kernels.draws.continuous import standard_normal
from giro.kernels.highest.densities import normal_argmax_probabilities
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import Ties, argmax, tie_ranking
from giro.kernels.regression.design import Design, case_row, design_of, model_of, put_arm, round_row
from giro.kernels.regression.linear_algebra import dot
from giro.kernels.regression.ridge import Ridge, empty_ridge, observe
from giro.offer import of_arms
from giro.policies.reboot import EQUAL, LARGEST
from giro.policy import Case, Offer, Policy, Shape


class _State(NamedTuple):
    ridge: Ridge
    pulls: np.ndarray  # [arm]
    total: np.ndarray  # [arm] sum of rewards
    squares: np.ndarray  # [arm] sum of squared rewards
    w: float  # standard deviation of the weights
    design: Design
    ranking: np.ndarray  # order of arms never pulled


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    values, deviations = _values(state, offer)
    for i in range(values.size):
        values[i] += deviations[i] * standard_normal(rng)
    return argmax(values, offer.arms, state.ranking, rng)


@kernel
def _values(state: _State, offer: Offer) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and deviation of each arm's value, an infinite mean for arms never pulled."""
    means, deviations = np.full(offer.arms.size, np.inf), np.zeros(offer.arms.size)
    x = round_row(state.design, offer.context)
    for i in range(means.size):
        model, arm = put_arm(state.design, offer, i), offer.arms[i]
        s = state.pulls[arm]
        if s > 0:
            means[i] = dot(x, state.ridge.theta[model])
            mean = state.total[arm] / s
            rss = state.squares[arm] - s * mean * mean
            rss = rss + s * (mean - means[i]) ** 2 if rss > EQUAL * s else LARGEST * s
            deviations[i] = state.w * math.sqrt(rss) / s
    return means, deviations


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    observe(state.ridge, case_row(state.design, case), model_of(state.design, arm), reward)
    state.pulls[arm] += 1
    state.total[arm] += reward
    state.squares[arm] += reward * reward


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    means, deviations = _values(state, offer)
    if means.max() == np.inf:
        return argmax_probabilities(means, of_arms(state.ranking, offer.arms))
    return normal_argmax_probabilities(means, deviations)


@dataclass(frozen=True)
class LinReboot(Policy, name="lin-reboot"):
    """Pulls the arm with the highest prediction plus mean of its residuals under random weights.

    The prediction x'θ is that of ridge regression. The residuals of an arm are its s rewards less
    this prediction, each with an independent weight from N(0, `w`²). So the value is one normal
    draw with variance `w`² RSS / s², where RSS is the sum of the squared residuals. As in the
    authors' code, residuals are those of the present prediction, not of the one for the context in
    which the reward came. An arm that was never pulled goes first.

    Differs from the paper: θ is shared between arms only if arms have features; residuals are
    always an arm's own. An arm whose rewards were all equal may have no residuals to learn from,
    and might never be pulled again. Its RSS is then s/4, the largest for rewards in [0, 1].
    """

    source = "Wu et al. 2022, Algorithm 1, with normal weights"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)
    uses_arm_features = True

    w: Positive = 0.4
    penalty: Positive = field(default=0.1, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return regressions before any reward."""
        total, squares = np.zeros((2, shape.n_arms))
        return _State(
            empty_ridge(shape.n_models, shape.width, self.penalty),
            np.zeros(shape.n_arms, np.int64),
            total,
            squares,
            float(self.w),
            design_of(shape),
            tie_ranking(self.ties, shape.n_arms, rng),
        )
