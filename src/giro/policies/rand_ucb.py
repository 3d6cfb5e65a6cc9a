"""RandUCB: one random multiple of the confidence width for all arms (Vaswani et al., 2020)."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import NOT_NEGATIVE, POSITIVE, check
from giro.compiling import kernel
from giro.kernels.draws.normal import standard_normal
from giro.kernels.highest.envelope import envelope_probabilities
from giro.kernels.highest.ties import Ties, argmax, tie_ranking
from giro.kernels.regression.design import Design, case_row, design_of, model_of
from giro.kernels.regression.ridge import Ridge, empty_ridge, observe
from giro.offer import of_arms
from giro.policies._widths import NOISE, scores_and_widths
from giro.policy import Case, Offer, Policy, Shape


class _State(NamedTuple):
    ridge: Ridge
    sd: float  # of the noise that a width stands for
    design: Design
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    means, widths = _lines(state, offer)
    return argmax(means + abs(standard_normal(rng)) * widths, offer.arms, state.ranking, rng)


@kernel
def _lines(state: _State, offer: Offer) -> tuple[np.ndarray, np.ndarray]:
    """Return x'θ and sd (x'V⁻¹x)^(1/2) of each arm on offer."""
    ridge = state.ridge
    means, widths = scores_and_widths(
        state.design, offer, ridge.theta, ridge.factor, ridge.workspace
    )
    return means, state.sd * widths


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    observe(state.ridge, case_row(state.design, case), model_of(state.design, arm), reward)


def _propensities(state: _State, offer: Offer) -> np.ndarray:
    means, widths = _lines(state, offer)
    return envelope_probabilities(means, widths, of_arms(state.ranking, offer.arms))


@dataclass(frozen=True)
class RandUcb(Policy, name="rand-ucb"):
    """Pulls the arm with the highest mean + u width, with one random u for all arms.

    Each arm has a ridge regression; its width is s (x'V⁻¹x)^(1/2), the standard deviation of x'θ if
    rewards had noise of standard deviation s, and u is the absolute value of a standard normal
    draw. s = min(1/2, `scale` / √d), where d counts the columns of x: widths that do not fall with
    √d explore too much in many dimensions. An arm that has seen only zeros keeps its width. The
    arms' probabilities are exact: they follow from the upper envelope of the lines mean + u width.
    Differs from the paper: u is not cut off, the width is that of ridge regression without theory's
    constant, and parameters are shared between arms only if arms have features.
    """

    source = "Vaswani et al. 2020, Section 3"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)
    uses_arm_features = True

    scale: float = 1.0
    penalty: float = field(default=1.0, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        check(self.name, NOT_NEGATIVE, scale=self.scale)
        check(self.name, POSITIVE, penalty=self.penalty)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return regressions on nothing."""
        return _State(
            empty_ridge(shape.n_models, shape.width, self.penalty),
            min(NOISE, self.scale / math.sqrt(shape.width)),
            design_of(shape),
            tie_ranking(self.ties, shape.n_arms, rng),
        )
