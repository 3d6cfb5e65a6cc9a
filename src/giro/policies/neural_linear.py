"""NeuralLinear: a linear posterior on the last layer of a network (Riquelme et al., 2018)."""

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from giro.checks import Count, NotNegative, Positive
from giro.compiling import kernel
from giro.kernels.draws.uniform import integer_below, uniforms
from giro.kernels.giro.pseudo_rewards import REAL
from giro.kernels.highest.ties import argmax, tie_ranking
from giro.kernels.memory import Everything
from giro.kernels.network import (
    AdamMoments,
    NetworkWeights,
    Pace,
    Workspace,
    aligned_zeros,
    empty_workspace,
    entry_of,
    put_units,
    take_adam_step,
    width_of,
)
from giro.kernels.regression.design import Design, case_row, design_of, model_of, put_arm, round_row
from giro.kernels.regression.rows import Rows, append_row, empty_rows, positions_of
from giro.kernels.regression.sums import empty_sums, put_row, solve_sums
from giro.policies._posterior import Posterior, PosteriorPolicy, drawn_values, take_reward
from giro.policy import Case, Offer, Shape


class _Training(NamedTuple):
    every: int  # rewards between two trainings
    steps: int
    pace: Pace
    slowing: float  # step k, from 0, is 1 + slowing k times shorter


class _State(NamedTuple):
    rows: Rows
    network: NetworkWeights  # hidden units in row 0, an output for each model
    mean: NetworkWeights  # see `AdamMoments`
    square: NetworkWeights
    missing: np.ndarray  # [2]
    workspace: Workspace
    batch: np.ndarray  # [i] workspace for the entries of a step
    units: np.ndarray  # [unit] hidden units of the last row, idle ones included
    layer: np.ndarray  # [unit + 1] the same without idle ones, and a constant 1
    sums: Any  # workspace for one model, see `giro.kernels.regression.sums`
    posterior: Posterior  # of rewards, given the last layer
    training: _Training
    design: Design
    ranking: np.ndarray  # order of arms that have too few rewards

    def widened(self, old: "_State") -> None:
        """Begin with weights of 0 for new columns, which stay 0 while these are."""
        self.network.hidden[:, old.network.hidden.shape[1] :] = 0.0


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    x = round_row(state.design, offer.context)
    rows = np.empty((offer.arms.size, state.layer.size))
    for i in range(offer.arms.size):
        if i == 0 or state.design.shared:
            put_arm(state.design, offer, i)
            _set_layer(state, x)
        rows[i] = state.layer
    values = drawn_values(state.posterior, rows, state.design, offer, rng)
    return argmax(values, offer.arms, state.ranking, rng)


@kernel
def _set_layer(state: _State, x: np.ndarray) -> None:
    """Set the last layer to that of this row."""
    put_units(_network_of(state.network, 0), x, state.units)
    for k in range(state.layer.size - 1):
        state.layer[k] = state.units[k]


@kernel
def _network_of(weights: NetworkWeights, model: int) -> NetworkWeights:
    """Return the weights of all models' hidden units, and of one model's output."""
    return NetworkWeights(weights.hidden[0], weights.output[model], weights.bias[model])


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    x, model = case_row(state.design, case), model_of(state.design, arm)
    append_row(state.rows, x, model, reward)
    _set_layer(state, x)
    take_reward(state.posterior, state.layer, model, reward)
    if state.rows.filled[0] % state.training.every == 0:
        _train(state, rng)
        for each in range(state.posterior.pulls.size):
            if state.posterior.pulls[each] > 0:
                _look_again(state, each)


@kernel
def _train(state: _State, rng: np.random.Generator) -> None:
    """Take steps, each with rewards of one model, drawn as likely as it has rewards."""
    training = state.training
    for step in range(training.steps):
        model, left = 0, integer_below(state.rows.filled[0], rng)
        while left >= state.posterior.pulls[model]:
            left -= state.posterior.pulls[model]
            model += 1
        positions = positions_of(state.rows, model)
        for i in range(state.batch.size):
            state.batch[i] = entry_of(positions[integer_below(positions.size, rng)], REAL)
        mean, square = _network_of(state.mean, model), _network_of(state.square, model)
        take_adam_step(
            _network_of(state.network, model),
            AdamMoments(mean, square, state.missing),
            state.workspace,
            state.rows,
            state.batch,
            Pace(training.pace.rate / (1.0 + training.slowing * step), training.pace.decay),
        )


@kernel
def _look_again(state: _State, model: int) -> None:
    """Set a model's posterior to that of all its rewards on the present last layer."""
    sums, ridge, positions = state.sums, state.posterior.ridge, positions_of(state.rows, model)
    sums.gram[:] = 0.0
    sums.moment[:] = 0.0
    for position in positions:
        _set_layer(state, state.rows.contexts[position])
        put_row(sums, Everything(), 0, state.layer, 1.0, state.rows.rewards[position])
    for j in range(state.layer.size):
        ridge.moment[model, j] = sums.moment[0, j]
    solve_sums(sums, 0, 1.0, state.posterior.penalty, ridge.factor[model], ridge.theta[model])


@dataclass(frozen=True)
class NeuralLinear(PosteriorPolicy, name="neural-linear"):
    """Pulls the arm with the highest reward that is drawn from a posterior on a network's units.

    A network of `hidden` ReLU units, which all arms share, has an output for each arm. Its units
    and a constant 1 are the features of a linear regression for each arm, with the posterior and
    the parameters of `lin-post`. After every `every` rewards, `steps` steps of Adam with `batch`
    rewards each go on from the last weights, step k = 0, 1, ... with the rate
    `rate` / (1 + `slowing` k), and the regressions look at all rewards again. So a reward costs
    the more, the more there were. An arm with fewer than `initial` rewards goes first. The authors'
    code has 100 steps of 512 rewards.

    Differs from the paper: a step takes rewards of one arm, which is as likely as it has rewards,
    the loss is the cross-entropy of a sigmoid output, and steps are Adam's and not RMSProp's with
    clipped gradients. If arms have features, one output and one regression serve all arms.
    """

    source = "Riquelme et al. 2018, Section 3, neural linear"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)

    hidden: Count = field(default=50, kw_only=True)
    every: Count = field(default=50, kw_only=True)
    steps: Count = field(default=40, kw_only=True)
    batch: Count = field(default=32, kw_only=True)
    rate: Positive = field(default=0.01, kw_only=True)
    slowing: NotNegative = field(default=0.0, kw_only=True)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return a network with random weights, and the prior of every arm."""
        n, d, hidden, width = shape.n_models, shape.width, self.hidden, width_of(self.hidden)
        ranking = tie_ranking(self.ties, shape.n_arms, rng)
        network = _zeros(n, d, width)
        inner, outer = math.sqrt(6 / (d + hidden)), math.sqrt(6 / (hidden + 1))
        units = network.hidden.reshape(d, width)
        units[:, :hidden] = uniforms(-inner, inner, (d, hidden), rng)
        network.output[:, :hidden] = uniforms(-outer, outer, (n, hidden), rng)  # arm by arm
        return _State(
            empty_rows(n, d, shape.capacity),
            network,
            _zeros(n, d, width),
            _zeros(n, d, width),
            np.ones(2),
            empty_workspace(d, width, self.batch),
            np.empty(self.batch, np.int32),
            aligned_zeros(1, width)[0],
            np.ones(hidden + 1),
            empty_sums(1, hidden + 1, windowed=False),
            self.posterior(n, hidden + 1),
            _Training(
                int(self.every), int(self.steps), Pace(float(self.rate), 0.0), float(self.slowing)
            ),
            design_of(shape),
            ranking,
        )


def _zeros(n_models: int, d: int, width: int) -> NetworkWeights:
    hidden, output = aligned_zeros(1, d * width), aligned_zeros(n_models, width)
    return NetworkWeights(hidden, output, np.zeros((n_models, 1)))
