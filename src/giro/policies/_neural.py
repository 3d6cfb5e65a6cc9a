"""Networks whose gradients say how much is known of an arm's reward."""

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from giro.checks import Count, NotNegative, Positive
from giro.compiling import kernel
from giro.kernels.highest.ties import Ties, tie_ranking
from giro.kernels.memory import Everything
from giro.kernels.network import (
    NetworkWeights,
    aligned_zeros,
    clipped_sigmoid,
    network_at,
    put_squared_gradient,
    put_units,
    score_of,
)
from giro.kernels.regression.design import case_row, model_of, put_arm, round_row
from giro.models.online_network import OnlineNetwork
from giro.offer import Offer
from giro.policies._arm_models import ArmModels, follow, most_rows, start_models
from giro.policy import Case, Policy, Shape


class NeuralState(NamedTuple):
    """Networks, and the sums of their squared gradients."""

    models: ArmModels
    precision: NetworkWeights  # [model, weight] U = penalty + Σ g²
    squares: NetworkWeights  # [weight] workspace for g²
    units: np.ndarray  # [unit] workspace
    variance: float  # penalty · nu
    ranking: np.ndarray  # order of tied arms


@kernel
def predictions_and_widths(state: NeuralState, offer: Offer) -> tuple[np.ndarray, np.ndarray]:
    """Return f and (λ ν Σ g²/U)^(1/2) of each arm on offer."""
    design, squares = state.models.design, state.squares
    predictions, widths = np.empty(offer.arms.size), np.empty(offer.arms.size)
    x = round_row(design, offer.context)
    for i in range(predictions.size):
        number = put_arm(design, offer, i)
        predictions[i] = _look(state, number, x)
        precision = network_at(state.precision, number)
        total = _sum_of_ratios(squares.hidden, precision.hidden)
        total += _sum_of_ratios(squares.output, precision.output)
        total += _sum_of_ratios(squares.bias, precision.bias)
        widths[i] = math.sqrt(state.variance * total)
    return predictions, widths


@kernel
def _look(state: NeuralState, number: int, x: np.ndarray) -> float:
    """Return the prediction f of a network, and set the workspace to its squared gradient."""
    network, squares = network_at(state.models.model.networks, number), state.squares
    f = clipped_sigmoid(score_of(network, x))
    put_units(network, x, state.units)
    put_squared_gradient(network, x, state.units, squares)
    slope = f * (1.0 - f)
    for array in (squares.hidden, squares.output, squares.bias):
        for i in range(array.size):
            array[i] *= slope * slope
    return f


@kernel
def _sum_of_ratios(numbers: np.ndarray, divisors: np.ndarray) -> float:
    total = 0.0
    for i in range(numbers.size):
        total += numbers[i] / divisors[i]
    return total


@kernel
def learn_by_network(
    state: NeuralState, case: Case, arm: int, reward: float, rng: np.random.Generator
) -> None:
    """Add the squared gradient of the pulled arm, and train its network."""
    x, number = case_row(state.models.design, case), model_of(state.models.design, arm)
    _look(state, number, x)
    precision, squares = network_at(state.precision, number), state.squares
    for sums, more in (
        (precision.hidden, squares.hidden),
        (precision.output, squares.output),
        (precision.bias, squares.bias),
    ):
        for i in range(sums.size):
            sums[i] += more[i]
    follow(state.models, x, number, reward, rng)


@dataclass(frozen=True)
class NeuralPolicy(Policy):
    """Parameters of policies that explore by gradients of a network."""

    uses_arm_features = True

    nu: NotNegative = 1.0
    penalty: Positive = field(default=1.0, kw_only=True)
    hidden: Count = field(default=32, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)

    def most_rewards(self, shape: Shape) -> int | None:
        """Return the rows that the networks keep."""
        most = most_rows(self._model)
        return None if most is None else most * shape.n_models

    @property
    def _model(self) -> OnlineNetwork:
        return OnlineNetwork(hidden=self.hidden, copies=1)

    def start_networks(self, shape: Shape, rng: np.random.Generator) -> tuple[Any, ...]:
        """Return the parts of a `NeuralState` before any reward."""
        ranking = tie_ranking(self.ties, shape.n_arms, rng)
        models = start_models(self._model, Everything(), shape, rng)
        n, width = models.model.networks.output.shape
        sizes = shape.width * width, width, 1
        return (
            models,
            NetworkWeights(*(np.full((n, size), float(self.penalty)) for size in sizes)),
            NetworkWeights(*(np.zeros(size) for size in sizes)),
            aligned_zeros(1, width)[0],
            float(self.penalty) * float(self.nu),
            ranking,
        )
