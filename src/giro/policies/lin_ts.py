"""LinTS: Thompson sampling for linear rewards (Agrawal and Goyal, 2013)."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.kernel import kernel
from giro.kernels.contexts import with_bias
from giro.kernels.draws.normal import standard_normal
from giro.kernels.inverse import squared_width
from giro.kernels.propensity import chances_of_highest_normal
from giro.kernels.ridge import Ridge, empty_ridge, observe
from giro.kernels.ties import argmax
from giro.kernels.vectors import dot
from giro.policies.widths import NOISE, check_delta, check_penalty, check_scale
from giro.policy import Context, Policy


class _State(NamedTuple):
    ridge: Ridge
    rewards: np.ndarray  # [1] how many there were
    delta: float
    scale: float  # v, or less than 0 where v follows from delta
    one: np.ndarray  # [1] the context where the problem has none
    ranking: np.ndarray  # empty: draws tie only by rounding


@kernel
def _choose(state: _State, context: Context, rng: np.random.Generator) -> int:
    values, deviations = _posterior(state, with_bias(context, state.one))
    for arm in range(values.size):
        values[arm] += deviations[arm] * standard_normal(rng)
    return argmax(values, state.ranking, rng)


@kernel
def _posterior(state: _State, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and deviation of x'θ for each arm, θ being N(B⁻¹f, v² B⁻¹)."""
    ridge, v = state.ridge, _spread(state)
    means, deviations = np.empty(ridge.theta.shape[0]), np.empty(ridge.theta.shape[0])
    for arm in range(means.size):
        means[arm] = dot(x, ridge.theta[arm])
        deviations[arm] = v * math.sqrt(squared_width(ridge.factor[arm], x, ridge.room))
    return means, deviations


@kernel
def _spread(state: _State) -> float:
    """Return v = R (9 d log(t / δ))^(1/2), t being the round; or what was given in its place."""
    if state.scale >= 0.0:
        return state.scale
    d, t = state.ridge.room.size, state.rewards[0] + 1
    return NOISE * math.sqrt(9 * d * math.log(t / state.delta))


@kernel
def _learn(
    state: _State, context: Context, arm: int, reward: float, rng: np.random.Generator
) -> None:
    state.rewards[0] += 1
    observe(state.ridge, with_bias(context, state.one), arm, reward)


def _propensities(state: _State, context: Context) -> np.ndarray:
    return chances_of_highest_normal(*_posterior(state, with_bias(context, state.one)))


@dataclass(frozen=True)
class LinTs(Policy, name="lin-ts"):
    """Pulls the arm with the highest reward under parameters drawn from their posterior.

    Each arm's parameters are N(θ, v² B⁻¹) with the ridge estimate θ and B = penalty I + Σ x x'.
    Only x'θ matters, and arms are independent: one normal draw an arm has the same law as drawing
    whole vectors. `scale` takes the place of v, as the standard deviation of the noise; theory's v
    is R (9 d log(t / δ))^(1/2) with R = 1/2 for rewards in [0, 1], as in the authors' last version
    on arXiv (1209.3352; the proceedings have 24 / epsilon in place of 9). Differs from the paper:
    parameters are not shared between arms, d is the length of one context, and its penalty is 1.
    """

    source = "Agrawal and Goyal 2013 (linear payoffs), Algorithm 1"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    scale: float | None = None
    penalty: float = field(default=1.0, kw_only=True)
    delta: float = field(default=0.05, kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_scale(self.name, self.scale)
        check_penalty(self.name, self.penalty)
        check_delta(self.name, self.delta)

    def start(self, n_arms: int, n_features: int, rounds: int, rng: np.random.Generator) -> _State:
        """Return the prior of every arm."""
        return _State(
            empty_ridge(n_arms, max(n_features, 1), self.penalty),
            np.zeros(1, np.int64),
            float(self.delta),
            -1.0 if self.scale is None else float(self.scale),
            np.ones(1),
            np.empty(0, np.int64),
        )
