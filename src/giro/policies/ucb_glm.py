"""UCB-GLM: optimism about the score of a logistic model (Li et al., 2017, Algorithm 1)."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.errors import BadParameter
from giro.kernel import kernel
from giro.kernels.contexts import with_bias
from giro.kernels.draws.uniform import integer_below
from giro.kernels.inverse import squared_width
from giro.kernels.propensity import shares_of_highest
from giro.kernels.ties import argmax, tie_ranking
from giro.kernels.vectors import dot
from giro.policies.logistic_arms import LogisticArms, empty_logistic_arms, observe
from giro.policies.widths import NOISE, OptimisticPolicy, logistic_slope
from giro.policy import Context


class _State(NamedTuple):
    arms: LogisticArms
    alpha: float
    tau: int  # rewards before which arms are drawn
    one: np.ndarray  # [1] the context where the problem has none
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, context: Context, rng: np.random.Generator) -> int:
    if state.arms.rows.filled[0] < state.tau:
        return integer_below(state.arms.theta.shape[0], rng)
    return argmax(_bounds(state, with_bias(context, state.one)), state.ranking, rng)


@kernel
def _bounds(state: _State, x: np.ndarray) -> np.ndarray:
    """Return x'θ + α (x'V⁻¹x)^(1/2) of each arm."""
    arms = state.arms
    bounds = np.empty(arms.theta.shape[0])
    for arm in range(bounds.size):
        width = math.sqrt(squared_width(arms.factor[arm], x, arms.room))
        bounds[arm] = dot(x, arms.theta[arm]) + state.alpha * width
    return bounds


@kernel
def _learn(
    state: _State, context: Context, arm: int, reward: float, rng: np.random.Generator
) -> None:
    observe(state.arms, with_bias(context, state.one), arm, reward)


def _propensities(state: _State, context: Context) -> np.ndarray:
    n_arms = state.arms.theta.shape[0]
    if state.arms.rows.filled[0] < state.tau:
        return np.full(n_arms, 1.0 / n_arms)
    return shares_of_highest(_bounds(state, with_bias(context, state.one)), state.ranking)


@dataclass(frozen=True)
class UcbGlm(OptimisticPolicy, name="ucb-glm"):
    """Pulls the arm with the highest score x'θ of a logistic model plus a multiple of its width.

    The first `tau` rewards are those of arms drawn uniformly. Then θ is the maximum likelihood
    estimate of the arm's parameters and the multiple is that of Theorem 2,
    α = (σ / κ) (d/2 log(1 + 2n/d) + log(1/δ))^(1/2), for n rounds, σ = 1/2, and the least slope κ
    of the logistic function within 1 of parameters no longer than `norm`, for contexts no longer
    than 1; `scale` takes its place. Differs from the paper: parameters are not shared between arms;
    likelihood and V have a penalty, because V may stay singular; and `tau`, for which the paper's
    condition depends on the unknown, is by default as many as there are parameters.
    """

    source = "Li et al. 2017, Algorithm 1"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    tau: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        if self.tau is not None and not (isinstance(self.tau, int) and self.tau >= 0):
            raise BadParameter(f"ucb-glm needs a whole tau >= 0 or none, got tau={self.tau}")

    def start(self, n_arms: int, n_features: int, rounds: int, rng: np.random.Generator) -> _State:
        """Return models fitted to nothing."""
        d = max(n_features, 1)
        return _State(
            empty_logistic_arms(n_arms, d, rounds, self.penalty),
            self._alpha(d, rounds) if self.scale is None else float(self.scale),
            n_arms * d if self.tau is None else self.tau,
            np.ones(1),
            tie_ranking(self.ties, n_arms, rng),
        )

    def _alpha(self, d: int, n: int) -> float:
        kappa = logistic_slope(self.norm + 1.0)
        return NOISE / kappa * math.sqrt(d / 2 * math.log(1 + 2 * n / d) - math.log(self.delta))
