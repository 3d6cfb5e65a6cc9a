"""LinUCB: optimism with the confidence ellipsoids of OFUL (Abbasi-Yadkori et al., 2011)."""

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import argmax, tie_ranking
from giro.kernels.regression.design import Design, case_row, design_of, model_of
from giro.kernels.regression.linear_algebra import log_det, squared_width
from giro.kernels.regression.ridge import has_memory, ridge_of, take_in
from giro.offer import of_arms
from giro.policies._widths import NOISE, OptimisticPolicy, ridge_scores_and_widths
from giro.policy import Case, Offer, Shape


class _State(NamedTuple):
    ridge: Any  # a `Ridge`, or one that forgets
    log_det: np.ndarray  # [model] log of det(V) / det(penalty I), where nothing is forgotten
    radius: np.ndarray  # [model] of the confidence ellipsoid, likewise or if it was given
    penalty: float
    bias: float  # penalty^(1/2) S, the radius that the penalty costs
    delta: float
    is_fixed: bool  # whether the radius was given
    design: Design
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    return argmax(_bounds(state, offer), offer.arms, state.ranking, rng)


@kernel
def _bounds(state: _State, offer: Offer) -> np.ndarray:
    """Return x'θ + radius (x'V⁻¹x)^(1/2) of each arm on offer."""
    bounds, widths = ridge_scores_and_widths(state.design, offer, state.ridge)
    for i in range(bounds.size):
        bounds[i] += _radius_of(state, model_of(state.design, offer.arms[i])) * widths[i]
    return bounds


@kernel
def _radius_of(state: _State, model: int) -> float:
    if state.is_fixed or not has_memory(state.ridge):
        return float(state.radius[model])
    factor = state.ridge.factor[model]
    volume = log_det(factor) - factor.shape[0] * math.log(state.penalty)
    return _radius(max(volume, 0.0), state.delta) + state.bias


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    x, model = case_row(state.design, case), model_of(state.design, arm)
    if not state.is_fixed and not has_memory(state.ridge):  # det(V + x x') = det(V) (1 + x'V⁻¹x)
        state.log_det[model] += math.log1p(
            squared_width(state.ridge.factor[model], x, state.ridge.workspace)
        )
        state.radius[model] = _radius(state.log_det[model], state.delta) + state.bias
    take_in(state.ridge, x, model, reward)


@kernel
def _radius(log_det: float, delta: float) -> float:
    """Return R (2 log(det(V)^(1/2) det(λI)^(-1/2) / δ))^(1/2)."""
    return NOISE * math.sqrt(2 * (log_det / 2 - math.log(delta)))


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    return argmax_probabilities(_bounds(state, offer), of_arms(state.ranking, offer.arms))


@dataclass(frozen=True)
class LinUcb(OptimisticPolicy, name="lin-ucb"):
    """Pulls the arm with the highest reward that a confidence ellipsoid of its parameters allows.

    Each arm has its own ridge regression, with the radius of Theorem 2. It holds in all rounds at
    once with probability 1 - `delta` for an arm (1 - K `delta` for all K of them), if the arm's
    parameters are no longer than `norm` (S) and rewards lie in [0, 1] (R = 1/2). `scale` replaces
    the radius, like alpha in Li et al. (2010). An arm that was never pulled has a bound like any
    other. Differs from the paper: parameters are shared between arms only if arms have features.

    For worlds that change, only the last `window` rewards of all arms count (SW-UCB of Cheung et
    al., 2019), or a reward counts half as much after every `half_life` further ones (D-LinUCB of
    Russac et al., 2019), in V and θ. The penalty always counts in full. The radius uses the
    determinant of this V. Differs from Russac et al.: the width is (x'V⁻¹x)^(1/2), which is never
    less than theirs.
    """

    source = "Abbasi-Yadkori et al. 2011, Theorem 2"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    window: int | None = field(default=None, kw_only=True)
    half_life: float | None = field(default=None, kw_only=True)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return regressions before any reward, with their radius."""
        bias = math.sqrt(self.penalty) * self.norm
        radius = _radius(0.0, self.delta) + bias if self.scale is None else self.scale
        return _State(
            ridge_of(shape, self.penalty, window=self.window, half_life=self.half_life),
            np.zeros(shape.n_models),
            np.full(shape.n_models, float(radius)),
            float(self.penalty),
            float(bias),
            float(self.delta),
            self.scale is not None,
            design_of(shape),
            tie_ranking(self.ties, shape.n_arms, rng),
        )
