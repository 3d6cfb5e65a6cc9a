"""LinTS: Thompson sampling for linear rewards (Agrawal and Goyal, 2013)."""

import math
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import numpy as np

from giro.checks import NOT_NEGATIVE, Level, Positive, optional
from giro.compiling import kernel
from giro.kernels.draws.continuous import standard_normal
from giro.kernels.highest.densities import normal_argmax_probabilities
from giro.kernels.highest.ties import argmax
from giro.kernels.regression.design import Design, case_row, design_of, model_of, put_arm, round_row
from giro.kernels.regression.linear_algebra import dot
from giro.kernels.regression.ridge import drawn_theta, refresh, ridge_of, take_in
from giro.policies._widths import NOISE, ridge_scores_and_widths
from giro.policy import Case, Offer, Policy, Shape


class _State(NamedTuple):
    ridge: Any  # a `Ridge`, or one that forgets
    rewards: np.ndarray  # [1] how many there were
    delta: float
    scale: float  # v, or less than 0 where v follows from delta
    design: Design
    ranking: np.ndarray  # empty: draws tie only by rounding


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    if state.design.shared:
        return argmax(_drawn_values(state, offer, rng), offer.arms, state.ranking, rng)
    values, deviations = _posterior(state, offer)
    for i in range(values.size):
        values[i] += deviations[i] * standard_normal(rng)
    return argmax(values, offer.arms, state.ranking, rng)


@kernel
def _posterior(state: _State, offer: Offer) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and deviation of x'θ for each arm on offer, where θ is N(B⁻¹f, v² B⁻¹)."""
    means, widths = ridge_scores_and_widths(state.design, offer, state.ridge)
    return means, _spread(state) * widths


@kernel
def _drawn_values(state: _State, offer: Offer, rng: np.random.Generator) -> np.ndarray:
    """Return x'θ of each arm on offer for one draw of the θ that all arms share."""
    refresh(state.ridge, 0)
    x = round_row(state.design, offer.context)
    theta, values = drawn_theta(state.ridge, 0, _spread(state), rng), np.empty(offer.arms.size)
    for i in range(values.size):
        put_arm(state.design, offer, i)
        values[i] = dot(x, theta)
    return values


@kernel
def _spread(state: _State) -> float:
    """Return v = R (9 d log(t / δ))^(1/2) in round t, or the scale that replaces it."""
    if state.scale >= 0.0:
        return state.scale
    d, t = state.ridge.workspace.size, state.rewards[0] + 1
    return NOISE * math.sqrt(9 * d * math.log(t / state.delta))


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    state.rewards[0] += 1
    take_in(state.ridge, case_row(state.design, case), model_of(state.design, arm), reward)


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    if state.design.shared:
        return np.empty(0)
    means, deviations = _posterior(state, offer)
    return normal_argmax_probabilities(means, deviations)


@dataclass(frozen=True)
class LinTs(Policy, name="lin-ts"):
    """Pulls the arm with the highest reward under parameters drawn from their posterior.

    Each arm's parameters are N(θ, v² B⁻¹) with the ridge estimate θ and B = penalty I + Σ x x'.
    Only x'θ matters and arms are independent, so one normal draw for each arm has the same
    distribution as drawing whole vectors. `scale` replaces v and is the standard deviation of the
    noise. The v of the theory is R (9 d log(t / δ))^(1/2) with R = 1/2 for rewards in [0, 1], as in
    the authors' last version on arXiv (1209.3352; the proceedings have 24 / epsilon instead of 9).
    Differs from the paper: parameters are shared between arms only if arms have features (then one
    vector is drawn for all arms), d is the length of one row, and the paper's penalty is 1.

    For worlds that change, only the last `window` rewards of all arms count (as in Cheung et al.,
    2019), or a reward counts half as much after every `half_life` further ones (as in Russac et
    al., 2019), in B and in θ. The penalty always counts in full, and t is still the round.
    """

    source = "Agrawal and Goyal 2013 (linear payoffs), Algorithm 1"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)
    uses_arm_features = True

    scale: Annotated[float | None, optional(NOT_NEGATIVE)] = None
    penalty: Positive = field(default=1.0, kw_only=True)
    delta: Level = field(default=0.05, kw_only=True)
    window: int | None = field(default=None, kw_only=True)
    half_life: float | None = field(default=None, kw_only=True)

    def has_propensities(self, *, binary: bool, shared: bool) -> bool:
        """Return whether the probabilities are known: not if arms share a draw."""
        return not shared

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return the prior of every arm."""
        return _State(
            ridge_of(shape, self.penalty, window=self.window, half_life=self.half_life),
            np.zeros(1, np.int64),
            float(self.delta),
            -1.0 if self.scale is None else float(self.scale),
            design_of(shape),
            np.empty(0),
        )
