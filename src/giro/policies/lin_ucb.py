"""LinUCB: optimism with the confidence ellipsoids of OFUL (Abbasi-Yadkori et al., 2011)."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from giro.kernel import kernel
from giro.kernels.contexts import with_bias
from giro.kernels.inverse import squared_width
from giro.kernels.propensity import shares_of_highest
from giro.kernels.ridge import Ridge, empty_ridge, observe
from giro.kernels.ties import argmax, tie_ranking
from giro.kernels.vectors import dot
from giro.policies.widths import NOISE, OptimisticPolicy
from giro.policy import Context


class _State(NamedTuple):
    ridge: Ridge
    log_det: np.ndarray  # [arm] log of det(V) / det(penalty I)
    radius: np.ndarray  # [arm] of the confidence ellipsoid
    bias: float  # penalty^(1/2) S, the radius that the penalty costs
    delta: float
    is_fixed: bool  # whether the radius was given
    one: np.ndarray  # [1] the context where the problem has none
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, context: Context, rng: np.random.Generator) -> int:
    return argmax(_bounds(state, with_bias(context, state.one)), state.ranking, rng)


@kernel
def _bounds(state: _State, x: np.ndarray) -> np.ndarray:
    """Return x'θ + radius (x'V⁻¹x)^(1/2) of each arm."""
    ridge = state.ridge
    bounds = np.empty(state.radius.size)
    for arm in range(bounds.size):
        width = math.sqrt(squared_width(ridge.factor[arm], x, ridge.room))
        bounds[arm] = dot(x, ridge.theta[arm]) + state.radius[arm] * width
    return bounds


@kernel
def _learn(
    state: _State, context: Context, arm: int, reward: float, rng: np.random.Generator
) -> None:
    x = with_bias(context, state.one)
    if not state.is_fixed:  # det(V + x x') = det(V) (1 + x'V⁻¹x)
        state.log_det[arm] += math.log1p(
            squared_width(state.ridge.factor[arm], x, state.ridge.room)
        )
        state.radius[arm] = _radius(state.log_det[arm], state.delta) + state.bias
    observe(state.ridge, x, arm, reward)


@kernel
def _radius(log_det: float, delta: float) -> float:
    """Return R (2 log(det(V)^(1/2) det(λI)^(-1/2) / δ))^(1/2)."""
    return NOISE * math.sqrt(2 * (log_det / 2 - math.log(delta)))


def _propensities(state: _State, context: Context) -> np.ndarray:
    return shares_of_highest(_bounds(state, with_bias(context, state.one)), state.ranking)


@dataclass(frozen=True)
class LinUcb(OptimisticPolicy, name="lin-ucb"):
    """Pulls the arm with the highest reward that a confidence ellipsoid of its parameters allows.

    Each arm has a ridge regression of its own, and the radius of Theorem 2, which holds in all
    rounds at once with probability 1 - `delta` for an arm (1 - K `delta` for all K of them) if its
    parameters are no longer than `norm` (S) and rewards lie in [0, 1] (R = 1/2). `scale` takes the
    place of the radius, as alpha does in Li et al. (2010). An arm never pulled has a bound as any
    other. Differs from the paper: parameters are not shared between arms.
    """

    source = "Abbasi-Yadkori et al. 2011, Theorem 2"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    def start(self, n_arms: int, n_features: int, rounds: int, rng: np.random.Generator) -> _State:
        """Return regressions on nothing, and the radius that goes with them."""
        bias = math.sqrt(self.penalty) * self.norm
        radius = _radius(0.0, self.delta) + bias if self.scale is None else self.scale
        return _State(
            empty_ridge(n_arms, max(n_features, 1), self.penalty),
            np.zeros(n_arms),
            np.full(n_arms, float(radius)),
            float(bias),
            float(self.delta),
            self.scale is not None,
            np.ones(1),
            tie_ranking(self.ties, n_arms, rng),
        )
