"""Ensemble sampling: a few models, each fitted to its own perturbation of the rewards."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from giro.errors import BadParameter
from giro.kernel import kernel
from giro.kernels.draws.normal import normals, standard_normal
from giro.kernels.ties import argmax
from giro.kernels.winning_law import argmax_law
from giro.policies.linear_ensemble import (
    choose_by_ensemble,
    learn_by_ensemble,
    shares_by_ensemble,
    start_ensemble,
)
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
    model = int(rng.random() * state.total.shape[0])
    return argmax(_values(state, model), state.ranking, rng)


@kernel
def _values(state: _State, model: int) -> np.ndarray:
    """Return the posterior mean of each arm, according to one model."""
    values = np.empty(state.pulls.size)
    for arm in range(values.size):
        values[arm] = state.total[model, arm] / (state.prior_pulls + state.pulls[arm])
    return values


@kernel
def _learn(
    state: _State, context: Context, arm: int, reward: float, rng: np.random.Generator
) -> None:
    state.pulls[arm] += 1
    for model in range(state.total.shape[0]):
        state.total[model, arm] += reward + state.noise_sd * standard_normal(rng)


def _propensities(state: Any, context: Context) -> np.ndarray:
    """Return the share of models that think each arm best, with contexts or without."""
    return _shares(state) if isinstance(state, _State) else shares_by_ensemble(state, context)


@kernel
def _shares(state: _State) -> np.ndarray:
    """Return the share of models that think each arm best."""
    shares = np.zeros(state.pulls.size)
    for model in range(state.total.shape[0]):
        shares += argmax_law(_values(state, model), state.ranking)
    return np.asarray(shares / state.total.shape[0])


@dataclass(frozen=True)
class Ensemble(Policy, name="ensemble"):
    """Draws one of its models and pulls the arm which that model thinks best.

    Each model starts from its own draw of every arm's N(1/2, prior_sd^2) prior, sees every reward
    with its own N(0, noise_sd^2) added, and values an arm at the posterior mean given these. So a
    model's value has the law of the posterior, were rewards Gaussian. `noise_sd` is by default the
    largest standard deviation of a reward in [0, 1]; with `prior_sd` the same, the prior is worth
    one reward. With contexts, an arm's value is 1/2 + x'θ with a N(0, prior_sd^2 I) prior of θ.

    Differs from the paper: a θ for each arm, and arms without features where there is no context.
    """

    source = "Lu and Van Roy 2017, Algorithm 1"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

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

    def functions(self, n_features: int) -> tuple[Callable[..., int], Callable[..., None]]:
        """Return those for means, or for linear models if there are contexts."""
        return (choose_by_ensemble, learn_by_ensemble) if n_features else (_choose, _learn)

    def start(self, n_arms: int, n_features: int, rounds: int, rng: np.random.Generator) -> Any:
        """Return the models' draws from the prior."""
        prior_pulls = (self.noise_sd / self.prior_sd) ** 2
        if n_features:
            prior = normals(0.0, self.prior_sd, (self.models, n_arms, n_features), rng)
            return start_ensemble(prior, prior_pulls, float(self.noise_sd))
        prior = normals(_PRIOR_MEAN, self.prior_sd, (self.models, n_arms), rng)
        pulls, ranking = np.zeros(n_arms, np.int64), np.empty(0, np.int64)
        return _State(pulls, prior_pulls * prior, prior_pulls, float(self.noise_sd), ranking)
