"""NeuralUCB: optimism with the gradients of a network (Zhou, Li and Gu, 2020)."""

from dataclasses import dataclass

import numpy as np

from giro.compiling import kernel
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import argmax
from giro.offer import of_arms
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
    predictions, widths = predictions_and_widths(state, offer)
    return argmax(predictions + widths, offer.arms, state.ranking, rng)


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    predictions, widths = predictions_and_widths(state, offer)
    return argmax_probabilities(predictions + widths, of_arms(state.ranking, offer.arms))


@dataclass(frozen=True)
class NeuralUcb(NeuralPolicy, name="neural-ucb"):
    """Pulls the arm with the highest prediction of a network plus a width from its gradient.

    With the prediction f of the arm's network and its gradient g by all weights, the bound is
    f + (λ `nu` Σ g²/U)^(1/2), where U = λ + Σ g² over the arm's rewards, weight by weight, and λ is
    the `penalty`. The network is an `online-network` of `hidden` units.

    Differs from the paper, like the authors' code: U is the diagonal of the matrix, without the
    division by the number of units, and `nu` replaces the constants of the theory. Differs from
    both: the output is a sigmoid's, the network is trained by a few steps of Adam per reward, U
    grows when the reward comes, and arms share a network only if they have features.
    """

    source = "Zhou, Li and Gu 2020, Algorithm 1, diagonal as in the authors' code"
    choose = staticmethod(_choose)
    learn = staticmethod(learn_by_network)
    propensities = staticmethod(_propensities)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return networks before any reward."""
        return _State(*self.start_networks(shape, rng))
