"""ReBoot: exploration by a bootstrap of residuals (Wang et al., 2020)."""

import math
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

import numpy as np

from giro.checks import POSITIVE, Positive, optional
from giro.compiling import kernel
from giro.kernels.draws.continuous import standard_normal
from giro.kernels.highest.densities import normal_argmax_probabilities
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import Ties, argmax, tie_ranking
from giro.offer import of_arms
from giro.policy import Case, Offer, Policy, Shape

LARGEST = 0.25  # variance of a reward in [0, 1]
EQUAL = 1e-12  # mean squared residual below which rewards are equal, up to rounding


class _State(NamedTuple):
    pulls: np.ndarray  # [arm]
    total: np.ndarray  # [arm] sum of rewards
    squares: np.ndarray  # [arm] sum of squared rewards
    mean: np.ndarray  # [arm] expected value, infinity for an arm never pulled
    deviation: np.ndarray  # [arm] of the value
    r: float
    variance: float  # of a reward; 0: that of the arm's residuals
    ranking: np.ndarray  # order of arms never pulled


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    values = np.empty(offer.arms.size)
    for i in range(values.size):
        arm = offer.arms[i]
        values[i] = state.mean[arm] + state.deviation[arm] * standard_normal(rng)
    return argmax(values, offer.arms, state.ranking, rng)


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    state.pulls[arm] += 1
    state.total[arm] += reward
    state.squares[arm] += reward * reward
    s = state.pulls[arm]
    mean = state.total[arm] / s
    rss = max(state.squares[arm] - s * mean * mean, 0.0)
    variance = state.variance
    if variance == 0.0:
        variance = rss / s if rss > EQUAL * s else LARGEST
    pseudo = 2.0 * state.r * state.r * (s + 2) * variance
    state.mean[arm] = mean
    state.deviation[arm] = math.sqrt(rss + pseudo) / (s + 2)


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    means, deviations = of_arms(state.mean, offer.arms), of_arms(state.deviation, offer.arms)
    if means.max() == np.inf:
        return argmax_probabilities(means, of_arms(state.ranking, offer.arms))
    return normal_argmax_probabilities(means, deviations)


@dataclass(frozen=True)
class Reboot(Policy, name="reboot"):
    """Pulls the arm with the highest mean reward plus mean of its residuals under random weights.

    Residuals are rewards less their mean. Two pseudo residuals join the s real ones,
    ± r √(s + 2) sd, and all have independent N(0, 1) weights. So the value is one normal draw, with
    variance (RSS + 2 r² (s + 2) sd²) / (s + 2)², where RSS is the sum of the squared residuals.
    `sd` is the standard deviation of rewards, estimated for each arm by √(RSS / s) unless it is
    given. An arm that was never pulled goes first.

    Differs from the paper: an arm whose rewards were all equal has no residuals to learn from, and
    might never be pulled again. Its sd is then 1/2, the largest that rewards in [0, 1] can have.
    """

    source = "Wang et al. 2020, Algorithm 1, with normal weights"
    uses_contexts = False
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    r: Positive = 1.5
    sd: Annotated[float | None, optional(POSITIVE)] = field(default=None, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return counts and sums of zero."""
        total, squares, deviation = np.zeros((3, shape.n_arms))
        return _State(
            np.zeros(shape.n_arms, np.int64),
            total,
            squares,
            np.full(shape.n_arms, np.inf),
            deviation,
            float(self.r),
            0.0 if self.sd is None else float(self.sd) ** 2,
            tie_ranking(self.ties, shape.n_arms, rng),
        )
