"""GLM-UCB: optimism about the mean of a logistic model (Filippi et al., 2010)."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from giro.kernel import kernel
from giro.kernels.contexts import with_bias
from giro.kernels.inverse import squared_width
from giro.kernels.logistic_fit import sigmoid
from giro.kernels.propensity import shares_of_highest
from giro.kernels.ties import argmax, tie_ranking
from giro.kernels.vectors import dot
from giro.policies.logistic_arms import LogisticArms, empty_logistic_arms, observe
from giro.policies.widths import OptimisticPolicy, logistic_slope
from giro.policy import Context


class _State(NamedTuple):
    arms: LogisticArms
    width: float  # ρ, or ρ(t) / log(t)^(1/2)
    is_fixed: bool  # whether ρ was given
    one: np.ndarray  # [1] the context where the problem has none
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, context: Context, rng: np.random.Generator) -> int:
    return argmax(_bounds(state, with_bias(context, state.one)), state.ranking, rng)


@kernel
def _bounds(state: _State, x: np.ndarray) -> np.ndarray:
    """Return μ(x'θ) + ρ(t) (x'M⁻¹x)^(1/2) of each arm."""
    arms, t = state.arms, state.arms.rows.filled[0] + 1
    rho = state.width if state.is_fixed else state.width * math.sqrt(math.log(t))
    bounds = np.empty(arms.theta.shape[0])
    for arm in range(bounds.size):
        width = math.sqrt(squared_width(arms.factor[arm], x, arms.room))
        bounds[arm] = sigmoid(dot(x, arms.theta[arm])) + rho * width
    return bounds


@kernel
def _learn(
    state: _State, context: Context, arm: int, reward: float, rng: np.random.Generator
) -> None:
    observe(state.arms, with_bias(context, state.one), arm, reward)


def _propensities(state: _State, context: Context) -> np.ndarray:
    return shares_of_highest(_bounds(state, with_bias(context, state.one)), state.ranking)


@dataclass(frozen=True)
class GlmUcb(OptimisticPolicy, name="glm-ucb"):
    """Pulls the arm with the highest mean of a logistic model plus a multiple of its width.

    The mean is μ(x'θ), with θ the maximum likelihood estimate of the arm's parameters, the multiple
    ρ(t) = (2 k κ R / c) (2 d log(t) log(2 d n / δ))^(1/2) for n rounds, rewards up to R = 1, slopes
    of μ between c and k = 1/4 for parameters no longer than `norm` and contexts no longer than 1,
    and κ = (3 + 2 log(1 + 2 / penalty))^(1/2); `scale` takes its place. Differs from the paper:
    parameters are not shared between arms; likelihood and M have a penalty in place of first rounds
    that make M invertible (it stands for their least eigenvalue in κ), and of projecting θ.
    """

    source = "Filippi et al. 2010, Algorithm 1"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    def start(self, n_arms: int, n_features: int, rounds: int, rng: np.random.Generator) -> _State:
        """Return models fitted to nothing."""
        d = max(n_features, 1)
        return _State(
            empty_logistic_arms(n_arms, d, rounds, self.penalty),
            self._width(d, rounds) if self.scale is None else float(self.scale),
            self.scale is not None,
            np.ones(1),
            tie_ranking(self.ties, n_arms, rng),
        )

    def _width(self, d: int, n: int) -> float:
        kappa = math.sqrt(3 + 2 * math.log(1 + 2 / self.penalty))
        slopes = logistic_slope(0.0) / logistic_slope(self.norm)
        return 2 * kappa * slopes * math.sqrt(2 * d * math.log(2 * d * n / self.delta))
