"""Weighted bootstrap: rewards are reweighted at random (Vaswani et al., 2018, Section 4)."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from giro.errors import BadParameter
from giro.kernel import kernel
from giro.kernels.rewards import Rewards, entries_of, no_rewards, remember
from giro.kernels.reweight import exponential_mean, shifted_mean
from giro.kernels.ties import Ties, argmax, tie_ranking
from giro.policies.prior import check_prior
from giro.policy import Context, Policy


class _State(NamedTuple):
    rewards: Rewards
    zeros: int  # pseudo rewards 0 of every arm
    ones: int  # pseudo rewards 1 of every arm
    sd: float  # of Gaussian weights, 0 if they are exponential
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, context: Context, rng: np.random.Generator) -> int:
    values = np.empty(state.rewards.total.size)
    for arm in range(values.size):
        entries = entries_of(state.rewards, arm, state.zeros, state.ones)
        if state.sd > 0.0:
            values[arm] = shifted_mean(entries, state.sd, rng)
        else:
            values[arm] = exponential_mean(entries, rng)
    return argmax(values, state.ranking, rng)


@kernel
def _learn(
    state: _State, context: Context, arm: int, reward: float, rng: np.random.Generator
) -> None:
    remember(state.rewards, arm, reward)


@dataclass(frozen=True)
class WeightedBootstrap(Policy, name="weighted-bootstrap"):
    """Pulls the arm whose rewards, reweighted at random, have the highest mean.

    Each arm starts with `zeros` and `ones` pseudo rewards, which are weighted like all others.
    `exponential`: the i-th term of the Bernoulli log-likelihood is multiplied by w_i ~ Exp(1), so
    the value is sum w_i y_i / sum w_i; rewards 0 and 1 give Thompson sampling with a
    Beta(ones, zeros) prior. `gaussian`: w_i ~ N(0, sd^2) is added to the i-th reward of a Gaussian
    log-likelihood, so the value is the mean of y_i + w_i.

    Differs from the paper: its Gaussian weights are for Gaussian rewards of known standard
    deviation and without pseudo rewards; here `sd` is by default the largest that a reward in
    [0, 1] can have, 1/2, and the pseudo rewards stay.
    """

    source = "Vaswani et al. 2018, Section 4"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)

    weights: Literal["exponential", "gaussian"] = "exponential"
    zeros: int = field(default=1, kw_only=True)
    ones: int = field(default=1, kw_only=True)
    sd: float = field(default=0.5, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        if self.weights not in {"exponential", "gaussian"}:
            raise BadParameter(
                f"weighted-bootstrap needs weights exponential or gaussian, got '{self.weights}'"
            )
        check_prior(self.name, zeros=self.zeros, ones=self.ones)
        if not 0.0 < self.sd < np.inf:
            raise BadParameter(f"weighted-bootstrap needs a finite sd > 0, got sd={self.sd}")

    def start(self, n_arms: int, n_features: int, rounds: int, rng: np.random.Generator) -> _State:
        """Return empty histories and the pseudo rewards."""
        ranking = tie_ranking(self.ties, n_arms, rng)
        sd = float(self.sd) if self.weights == "gaussian" else 0.0
        return _State(no_rewards(n_arms, rounds), self.zeros, self.ones, sd, ranking)
