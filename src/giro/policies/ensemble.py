"""Ensemble sampling: a few models, each fitted to its own perturbation of the rewards."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.errors import BadParameter
from giro.kernel import kernel
from giro.kernels.ties import argmax
from giro.policy import Context, Policy

_PRIOR_MEAN = 0.5  # the middle of the rewards


class _State(NamedTuple):
    pulls: np.ndarray  # [arm]
    total: np.ndarray  # [model, arm] sum of perturbed rewards, the prior draw among them
    prior_pulls: float  # how many rewards the prior draw counts for
    noise_sd: float
    ranking: np.ndarray  # empty: models tie only by rounding


@kernel
def _choose(state: _State, context: Context, rng: np.random.Generator) -> int:
    models, n_arms = state.total.shape
    model = int(rng.random() * models)
    values = np.empty(n_arms)
    for arm in range(n_arms):
        values[arm] = state.total[model, arm] / (state.prior_pulls + state.pulls[arm])
    return argmax(values, state.ranking, rng)


@kernel
def _learn(
    state: _State, context: Context, arm: int, reward: float, rng: np.random.Generator
) -> None:
    state.pulls[arm] += 1
    for model in range(state.total.shape[0]):
        state.total[model, arm] += reward + state.noise_sd * rng.standard_normal()


@dataclass(frozen=True)
class Ensemble(Policy, name="ensemble"):
    """Draws one of its models and pulls the arm which that model thinks best.

    Each model starts from its own draw of every arm's N(1/2, prior_sd^2) prior, sees every reward
    with its own N(0, noise_sd^2) added, and values an arm at the posterior mean given these. So a
    model's value has the law of the posterior, were rewards Gaussian. `noise_sd` is by default the
    largest standard deviation of a reward in [0, 1]; with `prior_sd` the same, the prior is worth
    one reward.

    Differs from the paper: arms without features instead of linear models.
    """

    source = "Lu and Van Roy 2017, Algorithm 1"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)

    models: int = 20
    prior_sd: float = field(default=0.5, kw_only=True)
    noise_sd: float = field(default=0.5, kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not isinstance(self.models, int) or self.models < 1:
            raise BadParameter(f"ensemble needs a whole number models >= 1, got {self.models}")
        for name in ("prior_sd", "noise_sd"):
            if not 0.0 < (value := getattr(self, name)) < np.inf:
                raise BadParameter(f"ensemble needs a finite {name} > 0, got {value}")

    def start(self, n_arms: int, n_features: int, rounds: int, rng: np.random.Generator) -> _State:
        """Return the models' draws from the prior."""
        prior_pulls = (self.noise_sd / self.prior_sd) ** 2
        prior = rng.normal(_PRIOR_MEAN, self.prior_sd, size=(self.models, n_arms))
        pulls, ranking = np.zeros(n_arms, np.int64), np.empty(0, np.int64)
        return _State(pulls, prior_pulls * prior, prior_pulls, float(self.noise_sd), ranking)
