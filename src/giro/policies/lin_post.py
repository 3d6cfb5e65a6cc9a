"""LinPost: Thompson sampling for linear rewards with noise of unknown variance."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.highest.ties import argmax, tie_ranking
from giro.kernels.regression.design import Design, case_row, design_of, model_of, put_arm, round_row
from giro.policies._posterior import Posterior, PosteriorPolicy, drawn_values, take_reward
from giro.policy import Case, Offer, Shape


class _State(NamedTuple):
    posterior: Posterior
    design: Design
    ranking: np.ndarray  # order of arms that have too few rewards


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    x = round_row(state.design, offer.context)
    rows = np.empty((offer.arms.size, x.size))
    for i in range(offer.arms.size):
        put_arm(state.design, offer, i)
        rows[i] = x
    values = drawn_values(state.posterior, rows, state.design, offer, rng)
    return argmax(values, offer.arms, state.ranking, rng)


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    take_reward(state.posterior, case_row(state.design, case), model_of(state.design, arm), reward)


@dataclass(frozen=True)
class LinPost(PosteriorPolicy, name="lin-post"):
    """Pulls the arm with the highest reward under parameters and noise drawn from their posterior.

    LinFullPost in the paper. Each arm has a linear regression with noise of an unknown variance σ²,
    which is drawn first: inverse gamma with shape `a` + s/2 after s rewards, and with scale `b` and
    half of what the regression leaves of the squared rewards. Its parameters are then N(m, σ² P⁻¹)
    with the ridge estimate m and P = `penalty` I + Σ x x'. An arm with fewer than `initial` rewards
    goes first. The defaults are those of the authors' code. `b` / `a` is about the variance that is
    expected before any reward, and 1 is much for rewards in [0, 1].

    Differs from the paper: parameters and σ² are shared between arms only if arms have features,
    and then drawn once for all arms.
    """

    source = "Riquelme et al. 2018, Section 3, linear methods"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return the prior of every arm."""
        posterior = self.posterior(shape.n_models, shape.width)
        return _State(posterior, design_of(shape), tie_ranking(self.ties, shape.n_arms, rng))
