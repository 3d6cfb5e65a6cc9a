"""NeuralTS: draws with a deviation from the gradients of a network (Zhang et al., 2021)."""

from dataclasses import dataclass

import numpy as np

from giro.compiling import kernel
from giro.kernels.draws.continuous import standard_normal
from giro.kernels.highest.densities import normal_argmax_probabilities
from giro.kernels.highest.ties import argmax
from giro.policies._neural import (
    NeuralPolicy,
    NeuralState,
    learn_by_network,
    predictions_and_widths,
)
from giro.policy import Offer, Shape


class _State(NeuralState):
    __slots__ = ()


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    values, deviations = predictions_and_widths(state, offer)
    for i in range(values.size):
        values[i] += deviations[i] * standard_normal(rng)
    return argmax(values, offer.arms, state.ranking, rng)


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    return normal_argmax_probabilities(*predictions_and_widths(state, offer))


@dataclass(frozen=True)
class NeuralTs(NeuralPolicy, name="neural-ts"):
    """Pulls the arm with the highest draw around the prediction of a network.

    The draw has the prediction of the arm's network as its mean and the width of `neural-ucb`,
    which has the same parameters, as its standard deviation. It is drawn for each arm by itself,
    also where arms have features and share a network.

    Differs from the paper and from the authors' code as `neural-ucb` does.
    """

    source = "Zhang et al. 2021, Algorithm 1, diagonal as in the authors' code"
    choose = staticmethod(_choose)
    learn = staticmethod(learn_by_network)
    propensities = staticmethod(_propensities)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return networks before any reward."""
        return _State(*self.start_networks(shape, rng))
