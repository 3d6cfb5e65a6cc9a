"""Replicas of every arm's model, each fitted to its own weights of the same observations."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from giro.errors import BadParameter
from giro.kernel import kernel, plain
from giro.kernels.best_of_replicas import law_of_best
from giro.kernels.bootstrap_counts import ONE, REAL, ZERO
from giro.kernels.contexts import with_bias
from giro.kernels.draws.poisson import poisson
from giro.kernels.rows import Rows, append_row, empty_rows, positions_of
from giro.kernels.ties import Ties, argmax, tie_ranking
from giro.model import Model, Sample, absorb, refit, state_in_python, value
from giro.model import start as start_model
from giro.models.estimator import as_model
from giro.policy import Context, Policy

_EACH_TIME = 8  # rows up to which a model that cannot absorb is refitted with every new one


class _State(NamedTuple):
    rows: Rows
    model: Any  # fitted coefficients in slot arm * replicas + replica
    weights: np.ndarray  # [row, replica, kind] how often the replica takes a row; the last only,
    # if the model absorbs rows
    counts: np.ndarray  # [i, kind] room for the weights of one arm's rows
    due: np.ndarray  # [slot] rows of the arm at which the slot is refitted next
    one: np.ndarray  # [1] the context where the problem has none
    a: float  # mean weight of pseudo rewards of each kind
    growth: float  # of an arm's rows from one refit to the next
    absorbs: bool
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, context: Context, rng: np.random.Generator) -> int:
    length = state.rows.of_arm.length
    replicas = state.weights.shape[1]
    values = np.empty(length.size)
    for arm in range(values.size):
        replica = int(rng.random() * replicas)
        if length[arm] == 0:
            values[arm] = np.inf
        else:
            slot = arm * replicas + replica
            values[arm] = value(state.model, slot, with_bias(context, state.one))
    return argmax(values, state.ranking, rng)


@kernel
def _learn(
    state: _State, context: Context, arm: int, reward: float, rng: np.random.Generator
) -> None:
    append_row(state.rows, with_bias(context, state.one), arm, reward)
    positions = positions_of(state.rows, arm)
    replicas = state.weights.shape[1]
    newest = 0 if state.absorbs else positions[-1]
    draw_weights(state.weights[newest], state.a, rng)
    for replica in range(replicas):
        slot = arm * replicas + replica
        if state.absorbs:
            taken = state.weights[newest, replica : replica + 1]
            absorb(state.model, slot, Sample(state.rows, positions[-1:], taken), rng)
        elif positions.size >= state.due[slot]:
            state.due[slot] = next_refit(positions.size, state.growth)
            taken = weights_of(state.weights, positions, replica, state.counts)
            refit(state.model, slot, Sample(state.rows, positions, taken), rng)


@kernel
def draw_weights(weights: np.ndarray, a: float, rng: np.random.Generator) -> None:
    """Set weights[replica] of one observation: Poisson(1) of its reward, Poisson(a) of 1 and 0."""
    for replica in range(weights.shape[0]):
        weights[replica, REAL] = poisson(1.0, rng)
        weights[replica, ONE] = poisson(a, rng) if a > 0.0 else 0
        weights[replica, ZERO] = poisson(a, rng) if a > 0.0 else 0


@kernel
def next_refit(n: int, growth: float) -> int:
    """Return the number of rows at which a model fitted to n of them is fitted again."""
    return n + 1 if n < _EACH_TIME else max(n + 1, int(np.ceil(n * growth)))


@kernel
def weights_of(
    weights: np.ndarray, positions: np.ndarray, replica: int, out: np.ndarray
) -> np.ndarray:
    """Return the weights of these rows in one replica, [i, kind], written into `out`."""
    for i in range(positions.size):
        for kind in range(3):
            out[i, kind] = weights[positions[i], replica, kind]
    return out[: positions.size]


def _propensities(state: _State, context: Context) -> np.ndarray:
    """Return the chance of each arm: all combinations of replicas are equally likely."""
    length = state.rows.of_arm.length
    replicas = state.weights.shape[1]
    values = np.full((length.size, replicas), np.inf)
    for arm in np.flatnonzero(length):
        for replica in range(replicas):
            slot = int(arm) * replicas + replica
            values[arm, replica] = value(state.model, slot, with_bias(context, state.one))
    return law_of_best(values, state.ranking)


@dataclass(frozen=True)
class ReplicaPolicy(Policy):
    """Pulls the arm that expects most, as told by one replica of its model, drawn for each arm.

    Each observation enters each replica with weights drawn once. Models that can, absorb it at a
    cost that does not grow (linear: O(d²) per replica); others are fitted again when the arm's
    history has grown by the factor `growth`. An untried arm is pulled first.
    """

    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)

    if TYPE_CHECKING:  # fields of the policies, which put their own parameters first
        model: Model
        replicas: int

    growth: float = field(default=1.1, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters; wrap an estimator."""
        if not isinstance(self.replicas, int) or self.replicas < 1:
            raise BadParameter(
                f"{self.name} needs a whole number replicas >= 1, got replicas={self.replicas}"
            )
        if not 1.0 <= self.growth < np.inf:
            raise BadParameter(f"{self.name} needs a finite growth >= 1, got growth={self.growth}")
        object.__setattr__(self, "model", as_model(self.model))

    def functions(self, n_features: int) -> tuple[Callable[..., int], Callable[..., None]]:
        """Return kernels, or their Python bodies for a model that does not compile."""
        if self.model.compiles:
            return _choose, _learn
        return plain(_choose), plain(_learn)

    def start_replicas(
        self, a: float, n_arms: int, n_features: int, rounds: int, rng: np.random.Generator
    ) -> Any:
        """Return empty histories and unfitted replicas, with pseudo rewards of mean weight a."""
        features, absorbs = max(n_features, 1), self.model.incremental
        state = _State if self.model.compiles else state_in_python(_State)
        return state(
            empty_rows(n_arms, features, rounds),
            start_model(self.model, n_arms * self.replicas, features, rounds, rng),
            np.zeros((1 if absorbs else rounds, self.replicas, 3), np.int32),
            np.empty((1 if absorbs else rounds, 3), np.int32),
            np.zeros(n_arms * self.replicas, np.int64),
            np.ones(1),
            float(a),
            float(self.growth),
            absorbs,
            tie_ranking(self.ties, n_arms, rng),
        )
