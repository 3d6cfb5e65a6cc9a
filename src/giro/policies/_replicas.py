"""Replicas of every arm's model, each fitted to the same observations with its own weights."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args

import numpy as np

from giro.checks import SHARE, at_least, optional
from giro.compiling import bind, dispatched, inlined, kernel
from giro.kernels.draws.continuous import standard_exponential, standard_normal
from giro.kernels.draws.discrete import poisson
from giro.kernels.generations import learn_case, offered_rows, predicted
from giro.kernels.giro.pseudo_rewards import ONE, REAL, ZERO
from giro.kernels.highest.probabilities import argmax_probabilities, replica_probabilities
from giro.kernels.highest.ties import Ties, argmax, tie_ranking
from giro.kernels.memory import exchange, exchange_row, fade, note_row, now
from giro.kernels.regression.design import Design, case_row, design_of, model_of, put_arm, round_row
from giro.kernels.regression.linear_algebra import assign
from giro.kernels.regression.rows import Rows, append_row, empty_rows, positions_of, set_only_row
from giro.model import Model, Sample, forget, partial_fit, recent_rows, refit, value
from giro.model import start as start_model
from giro.models.hashed import Hashed
from giro.offer import of_arms
from giro.policies._arm_models import (
    ModelPolicy,
    empty_pulls,
    is_known,
    model_for,
    start_table,
)
from giro.policy import Case, Functions, Offer, Scores, Shape

Weights = Literal["poisson", "exponential", "gaussian", "double"]
KINDS = get_args(Weights)
_SPREAD_OF_TABLES = 0.1
_EACH_TIME = 8  # rows: up to this many, a model that is not incremental is refitted every time


class _State(NamedTuple):
    rows: Rows  # only the last one, if the model is incremental
    pulls: np.ndarray  # [model] rows that count, see `empty_pulls`
    model: Any  # fitted coefficients in slot model * replicas + replica
    drawn: np.ndarray  # [replica, kind] how much the last row counts for a replica
    weights: np.ndarray  # [row, replica, kind] the same of all rows, if the model is refitted
    counts: np.ndarray  # [i, kind] workspace for the weights of one model's rows
    due: np.ndarray  # [slot] number of rows at which the slot is refitted next
    only: np.ndarray  # [1] number of the only row, 0
    memory: Any  # which rows count, see `giro.kernels.memory`
    left: Rows  # only the row that leaves a window
    taken: np.ndarray  # [place, replica, kind] the weights of rows in a window, if incremental
    design: Design
    kind: int  # of the weights, an index of KINDS
    a: float  # mean weight of pseudo rewards of each kind
    spread: float  # factor of the replicas' distances from their mean
    growth: float  # of an arm's rows from one refit to the next
    incremental: bool
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    values, x = np.full(offer.arms.size, np.inf), round_row(state.design, offer.context)
    replicas, replica = state.drawn.shape[0], 0
    for i in range(values.size):
        if i == 0 or not state.design.shared:
            replica = int(rng.random() * replicas)
        model = put_arm(state.design, offer, i)
        if is_known(state.pulls, model):
            if state.spread < 1.0:
                values[i] = _of_replicas(state, model, x)[replica]
            else:
                values[i] = value(state.model, model * replicas + replica, x)
    return argmax(values, offer.arms, state.ranking, rng)


@inlined
def _of_replicas(state: _State, model: int, x: np.ndarray) -> np.ndarray:
    """Return the prediction of each replica of a model for a row."""
    values = np.empty(state.drawn.shape[0])
    for replica in range(values.size):
        values[replica] = value(state.model, model * values.size + replica, x)
    shrink(values, state.spread)
    return values


@kernel
def shrink(values: np.ndarray, spread: float) -> None:
    """Multiply the distance of each replica's value from the mean of all by `spread`."""
    if spread == 1.0:
        return
    mean = 0.0
    for replica in range(values.size):
        mean += values[replica]
    mean /= values.size
    for replica in range(values.size):
        values[replica] = mean + spread * (values[replica] - mean)


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    draw_weights(state.drawn, state.kind, state.a, rng)
    take_weighted(state, case, arm, reward, rng)


@dispatched
def take_weighted(
    state: Any, case: Case, arm: int, reward: float, rng: np.random.Generator
) -> None:
    """Learn a reward with the weights in `drawn`."""
    raise TypeError("replaced by dispatch")


def _into_models(
    state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator
) -> None:
    x, model = case_row(state.design, case), model_of(state.design, arm)
    if state.incremental:
        _learn_row(state, x, model, reward, rng)
    else:
        _learn_history(state, x, model, reward, rng)


@inlined
def _learn_row(
    state: _State, x: np.ndarray, model: int, reward: float, rng: np.random.Generator
) -> None:
    weights, replicas = state.drawn, state.drawn.shape[0]
    place = now(state.memory) % max(state.taken.shape[0], 1)
    gone = _count(state, x, model, reward)
    for replica in range(replicas if gone >= 0 else 0):
        taken = state.taken[place, replica : replica + 1]
        sample = Sample(state.left, state.only, taken, 0, state.memory)
        forget(state.model, gone * replicas + replica, sample)
    if state.taken.shape[0] > 0:
        state.taken[place] = weights
    set_only_row(state.rows, x, reward)
    for replica in range(replicas):
        sample = Sample(state.rows, state.only, weights[replica : replica + 1], 0, state.memory)
        partial_fit(state.model, model * replicas + replica, sample, rng)


@inlined
def _learn_history(
    state: _State, x: np.ndarray, model: int, reward: float, rng: np.random.Generator
) -> None:
    _count(state, x, model, reward)
    append_row(state.rows, x, model, reward)
    positions = positions_of(state.rows, model)
    note_row(state.memory, positions[-1])
    replicas = state.drawn.shape[0]
    state.weights[positions[-1]] = state.drawn
    for replica in range(replicas):
        slot = model * replicas + replica
        if positions.size >= state.due[slot]:
            taken = replica_weights(state.weights, positions, replica, state.counts)
            sample = Sample(state.rows, positions, taken, 0, state.memory)
            state.due[slot] = next_refit(positions.size, recent_rows(sample), state.growth)
            refit(state.model, slot, sample, rng)


@inlined
def _count(state: _State, x: np.ndarray, model: int, reward: float) -> int:
    """Count a row, and return the model that a row of the window leaves, -1 if there is none."""
    left = state.left
    gone, left.rewards[0] = exchange_row(state.memory, model, reward, x, left.contexts[0])
    if gone >= 0:
        state.pulls[gone] -= 1
    fade(state.memory, state.pulls, 0.0)
    state.pulls[model] += 1
    return gone


@kernel
def draw_weights(weights: np.ndarray, kind: int, a: float, rng: np.random.Generator) -> None:
    """Draw weights[replica] of the observed reward, with mean 1, and of a 1 and a 0, with mean a.

    Poisson weights have the means 1 and a, others are a times as large for pseudo rewards.
    """
    for replica in range(weights.shape[0]):
        weights[replica, REAL] = _weight(kind, 1.0, rng)
        weights[replica, ONE] = _weight(kind, a, rng) if a > 0.0 else 0.0
        weights[replica, ZERO] = _weight(kind, a, rng) if a > 0.0 else 0.0


@kernel
def _weight(kind: int, mean: float, rng: np.random.Generator) -> float:
    if kind == 0:
        return float(poisson(mean, rng))
    if kind == 1:
        return mean * standard_exponential(rng)
    if kind == 2:
        return mean * max(1.0 + standard_normal(rng), 0.0)
    return mean * (2.0 if rng.random() < 0.5 else 0.0)


@kernel
def next_refit(n: int, counted: int, growth: float) -> int:
    """Return the number of rows at which a model that was fitted to `counted` of n is refitted."""
    further = 1 if counted < _EACH_TIME else int(np.ceil(counted * growth)) - counted
    return n + max(further, 1)


@kernel
def replica_weights(
    weights: np.ndarray, positions: np.ndarray, replica: int, out: np.ndarray
) -> np.ndarray:
    """Write the weights of these rows in one replica into `out`, [i, kind], and return it."""
    for i in range(positions.size):
        for kind in range(3):
            out[i, kind] = weights[positions[i], replica, kind]
    return out[: positions.size]


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    """Return the probability of each arm on offer.

    All combinations of replicas are equally likely, or all replicas if arms share a model.
    """
    values = np.empty((offer.arms.size, state.drawn.shape[0]))
    put_values(state, offer, values)
    return _law(state.design.shared, of_arms(state.ranking, offer.arms), values)


@kernel
def _chances(state: _State, arms: np.ndarray, values: np.ndarray) -> np.ndarray:
    return _law(state.design.shared, of_arms(state.ranking, arms), values)


@kernel
def _law(shared: bool, ranking: np.ndarray, values: np.ndarray) -> np.ndarray:
    return _shares(values, ranking) if shared else replica_probabilities(values, ranking)


@kernel
def _shares(values: np.ndarray, ranking: np.ndarray) -> np.ndarray:
    """Return for each arm the share of replicas that prefer it, from values[i, replica]."""
    chances = np.zeros(values.shape[0])
    for replica in range(values.shape[1]):
        chances += argmax_probabilities(np.ascontiguousarray(values[:, replica]), ranking)
    return np.asarray(chances / values.shape[1])


@kernel
def _write_values(state: _State, offer: Offer, out: np.ndarray) -> None:
    put_values(state, offer, out)


@dispatched
def put_values(state: Any, offer: Offer, out: np.ndarray) -> None:
    """Write the prediction of each replica for each arm on offer, [i, replica]."""
    raise TypeError("replaced by dispatch")


def _by_models(state: _State, offer: Offer, out: np.ndarray) -> None:
    x = round_row(state.design, offer.context)
    out[:] = np.inf
    for i in range(offer.arms.size):
        model = put_arm(state.design, offer, i)
        if is_known(state.pulls, model):
            assign(out[i], _of_replicas(state, model, x))


class _TableState(NamedTuple):
    table: Any  # of all arms, or two that take turns, see `giro.kernels.generations`
    drawn: np.ndarray  # [replica, kind] how much the last row counts for it
    memory: Any  # how rows fade
    kind: int  # of the weights, an index of KINDS
    a: float  # mean weight of pseudo rewards of each kind
    spread: float  # factor of the replicas' distances from their mean
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose_by_table(state: _TableState, offer: Offer, rng: np.random.Generator) -> int:
    replica, rows = int(rng.random() * state.drawn.shape[0]), offered_rows(state.table, offer)
    values = predicted(state.table, rows, replica, state.spread)
    return argmax(values, offer.arms, state.ranking, rng)


@kernel
def _learn_by_table(
    state: _TableState, case: Case, arm: int, reward: float, rng: np.random.Generator
) -> None:
    draw_weights(state.drawn, state.kind, state.a, rng)
    take_weighted(state, case, arm, reward, rng)


def _into_table(
    state: _TableState, case: Case, arm: int, reward: float, rng: np.random.Generator
) -> None:
    exchange(state.memory, 0, reward)
    learn_case(state.table, case, arm, reward, state.drawn, state.memory)


@kernel
def _propensities_by_table(state: _TableState, offer: Offer) -> np.ndarray:
    values = np.empty((offer.arms.size, state.drawn.shape[0]))
    put_values(state, offer, values)
    return _chances_by_table(state, offer.arms, values)


@kernel
def _write_values_by_table(state: _TableState, offer: Offer, out: np.ndarray) -> None:
    put_values(state, offer, out)


def _by_table(state: _TableState, offer: Offer, out: np.ndarray) -> None:
    rows = offered_rows(state.table, offer)
    for replica in range(out.shape[1]):
        expected = predicted(state.table, rows, replica, state.spread)
        assign(out[:, replica], expected)


@kernel
def _chances_by_table(state: _TableState, arms: np.ndarray, values: np.ndarray) -> np.ndarray:
    return _shares(values, of_arms(state.ranking, arms))


for _kind, _take, _put in (
    (_State, _into_models, _by_models),
    (_TableState, _into_table, _by_table),
):
    bind(take_weighted, _kind, _take)
    bind(put_values, _kind, _put)


@dataclass(frozen=True)
class ReplicaPolicy(ModelPolicy):
    """Pulls the arm with the highest prediction of a random replica, drawn for each arm.

    If arms have features they share a model, and one replica is drawn for all of them.

    `spread` multiplies the distances of the replicas' predictions from their mean. Values below the
    default of 1 explore less. Each observation enters each replica with weights drawn once.
    Incremental models learn it at a cost that does not grow (linear: O(d²) per replica). Others are
    refitted when the arm's history has grown by the factor `growth`. An untried arm is pulled
    first.

    With the model `hashed` all arms share one table, and `spread` is 0.1 by default: models of many
    features differ more than exploring needs (docs/howto/arms-with-features.md has figures).

    For worlds that change, only the last `window` rewards of all arms count, or a reward counts
    half as much after every `half_life` further ones (docs/howto/drift.md says how for each model).
    """

    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)
    uses_arm_features = True
    choose_mutates_state = False  # replicas are fitted when rewards come

    if TYPE_CHECKING:  # fields of the subclasses, which list their own parameters first
        model: Model
        replicas: int

    growth: Annotated[float, at_least(1.0)] = field(default=1.1, kw_only=True)
    spread: Annotated[float | None, optional(SHARE)] = field(default=None, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)
    window: int | None = field(default=None, kw_only=True)
    half_life: float | None = field(default=None, kw_only=True)

    @property
    def learns_aside(self) -> bool:  # type: ignore[override]  # as `compiles` is
        """Whether the model is one in Python. Others are fitted too rarely to be worth a copy."""
        return not self.compiles

    def most_rewards(self, shape: Shape) -> int | None:
        """Return 1 or the window if models see only the last row. Others are fitted to all rows."""
        return max(1, self.window or 0) if self.model.fitting == "row" else None

    def functions(self) -> Functions:
        """Return the functions for models, or for one table of hashed features."""
        if isinstance(self.model, Hashed):
            scores = Scores(self.replicas, _write_values_by_table, _chances_by_table)
            return Functions(_choose_by_table, _learn_by_table, _propensities_by_table, scores)
        scores = Scores(self.replicas, _write_values, _chances)
        functions = super().functions()
        functions = functions._replace(scores=scores)
        return functions if self.compiles else functions.in_python

    def start_replicas(
        self, a: float, shape: Shape, rng: np.random.Generator, *, weights: Weights = "poisson"
    ) -> Any:
        """Return empty histories and unfitted replicas, with pseudo rewards of mean weight a."""
        if isinstance(self.model, Hashed):
            ranking = tie_ranking(self.ties, shape.n_arms, rng)
            memory = self.memory(shape, rows=False)
            table, memory = start_table(self.model, self.replicas, memory)
            spread = _SPREAD_OF_TABLES if self.spread is None else float(self.spread)
            return _TableState(
                table,
                np.zeros((self.replicas, 3)),
                memory,
                KINDS.index(weights),
                float(a),
                spread,
                ranking,
            )
        memory = self.memory(shape)
        model = model_for(self.model, memory)
        n_models, incremental = shape.n_models, model.fitting == "row"
        windowed = min(self.window or 0, shape.capacity) if incremental else 0
        ranking = tie_ranking(self.ties, shape.n_arms, rng)
        kept = 0 if incremental else shape.capacity
        return _State(
            empty_rows(n_models, shape.width, max(kept, 1)),
            empty_pulls(n_models, memory),
            start_model(model, n_models * self.replicas, shape.width, shape.capacity, rng),
            np.zeros((self.replicas, 3)),
            np.zeros((kept, self.replicas, 3)),
            np.empty((kept, 3)),
            np.zeros(n_models * self.replicas, np.int64),
            np.zeros(1, np.int64),
            memory,
            empty_rows(n_models, shape.width, 1),
            np.zeros((windowed, self.replicas, 3)),
            design_of(shape),
            KINDS.index(weights),
            float(a),
            1.0 if self.spread is None else float(self.spread),
            float(self.growth),
            incremental,
            ranking,
        )
