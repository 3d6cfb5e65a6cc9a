"""Reward models, one for each arm or one for all, that learn from the rewards of the arms.

The class of the `ArmModels` says how they learn, so that only that code is compiled. States that
hold a Python model cannot be passed to a kernel, so these functions are compiled into their
callers.
"""

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from giro.compiling import bind, dispatched, inline_kernel, inlined
from giro.kernels.giro.pseudo_rewards import REAL
from giro.kernels.hashed import (
    Table,
    TableRows,
    arm_entries,
    case_entries,
    expected_by_replica,
    round_entries,
    scales_of,
    table_rows,
    update_table,
)
from giro.kernels.regression.design import (
    Design,
    case_row,
    design_of,
    model_of,
    put_arm,
    round_row,
)
from giro.kernels.regression.rows import (
    Rows,
    append_row,
    empty_rows,
    keep_row,
    positions_of,
    set_only_row,
)
from giro.model import Fitting, Model, Sample, partial_fit, refit, value
from giro.model import start as start_model
from giro.models.estimator import as_model
from giro.models.hashed import Hashed
from giro.policy import Case, Offer, Policy, Shape

_ALL = 2**62  # rows, more than there ever are


class ModelPolicy(Policy):
    """Base class of policies with a `model`, which is None if a policy goes without."""

    if TYPE_CHECKING:  # a field of the subclasses, which list their own parameters first
        model: Model | None

    def __post_init__(self) -> None:
        """Wrap an estimator."""
        if self.model is not None:
            object.__setattr__(self, "model", as_model(self.model))

    @property
    def compiles(self) -> bool:  # type: ignore[override]  # known with the model
        """Whether the model, if there is one, compiles."""
        return self.model is None or self.model.compiles

    @property
    def hashes_features(self) -> bool:  # type: ignore[override]  # likewise
        """Whether the model is hashed."""
        return isinstance(self.model, Hashed)

    @property
    def choose_mutates_state(self) -> bool:  # type: ignore[override]  # likewise
        """Whether a model is trained before every choice."""
        return self.model is not None and fits_to_choose(self.model)

    def most_rewards(self, shape: Shape) -> int | None:
        """Return the rows that its models keep, if that is bounded."""
        most = None if self.model is None else most_rows(self.model)
        return None if most is None else most * shape.n_models

    def has_propensities(self, *, binary: bool, shared: bool) -> bool:
        """Return whether probabilities are known: not if a model is trained before every choice."""
        return not self.choose_mutates_state and self.functions().propensities is not None


class ArmModels(NamedTuple):
    """Models, and the histories they need."""

    rows: Rows  # only the last one, if the model is incremental; at most `most` of each model
    pulls: np.ndarray  # [model] rows so far
    model: Any  # fitted coefficients, a slot for each model
    counts: np.ndarray  # [i, kind] every observed reward once
    only: np.ndarray  # [1] number of the only row, 0
    design: Design
    most: int


class _Incremental(ArmModels):
    """Models that are updated with each row alone."""

    __slots__ = ()


class _Online(ArmModels):
    """Models that are updated with each row, given the whole history."""

    __slots__ = ()


class _RefitOnReward(ArmModels):
    """Models that are refitted to the history of the pulled arm after each reward."""

    __slots__ = ()


class _TrainOnChoice(ArmModels):
    """Models that are trained on the histories of all arms before every choice (a network).

    This follows Kveton et al. (2019), Section 6.2.
    """

    __slots__ = ()


_KINDS: Final[dict[Fitting, type[ArmModels]]] = {
    "row": _Incremental,
    "history": _Online,
    "refit": _RefitOnReward,
    "train": _TrainOnChoice,
}


class TableModel(NamedTuple):
    """One table of hashed features for all arms, which need no numbers."""

    table: Table  # of one replica
    pulls: np.ndarray  # [1] rows so far
    counts: np.ndarray  # [1, kind] an observed reward once


@inline_kernel
def offered_rows(table: Table, offer: Offer) -> TableRows:
    """Return the rows of the arms on offer."""
    scales = scales_of(table)
    entries = round_entries(offer.context, scales, False)
    return table_rows(table, entries, arm_entries(offer.features, offer.arms, scales))


@inline_kernel
def learned_row(table: Table, case: Case, arm: int) -> TableRows:
    """Update the scales of numbers, and return the row of a chosen arm."""
    scales = scales_of(table)
    entries = round_entries(case.context, scales, True)
    return table_rows(table, entries, case_entries(case.features, arm, scales))


def start_any_models(model: Model, shape: Shape, rng: np.random.Generator) -> Any:
    """Return models before any reward, or one table for all arms if features are hashed."""
    if not isinstance(model, Hashed):
        return start_models(model, shape, rng)
    counts = np.zeros((1, 3), np.int32)
    counts[0, REAL] = 1
    return TableModel(model.table(1), np.zeros(1, np.int64), counts)


def start_models(model: Model, shape: Shape, rng: np.random.Generator) -> ArmModels:
    """Return models of rows before any reward."""
    most = most_rows(model)
    kept = shape.capacity if most is None else min(shape.capacity, most * shape.n_models)
    counts = np.zeros((kept if most is None else min(kept, most), 3), np.int32)
    counts[:, REAL] = 1
    return _KINDS[model.fitting](
        empty_rows(shape.n_models, shape.width, kept, spaced=most is not None),
        np.zeros(shape.n_models, np.int64),
        start_model(model, shape.n_models, shape.width, kept, rng),
        counts,
        np.zeros(1, np.int64),
        design_of(shape),
        _ALL if most is None else most,
    )


def most_rows(model: Model) -> int | None:
    """Return how many rows of an arm a policy keeps for a model, or None for all of them."""
    if model.fitting == "row":
        return 1
    return model.most_rows if model.fitting == "history" else None


def fits_to_choose(model: Model) -> bool:
    """Return whether the model is trained before every choice."""
    return model.fitting == "train"


@dispatched
def fits_to_choose_now(models: Any) -> bool:
    """Return whether these models are trained before every choice."""
    raise TypeError("replaced by dispatch")


def _never(models: Any) -> bool:
    return False


def _always(models: Any) -> bool:
    return True


@dispatched
def expected(models: Any, offer: Offer, untried: float) -> np.ndarray:
    """Return the prediction of each arm's model, or `untried` for a model without rewards."""
    raise TypeError("replaced by dispatch")


def _by_table(models: TableModel, offer: Offer, untried: float) -> np.ndarray:
    """Return the table's predictions. Before anything is learned, they are its offset."""
    return expected_by_replica(models.table, offered_rows(models.table, offer), 0, 0.0)


def _by_rows(models: ArmModels, offer: Offer, untried: float) -> np.ndarray:
    values, x = np.full(offer.arms.size, untried), round_row(models.design, offer.context)
    for i in range(values.size):
        number = put_arm(models.design, offer, i)
        if models.pulls[number] > 0:
            values[i] = value(models.model, number, x)
    return values


@inlined
def _add(models: ArmModels, x: np.ndarray, number: int, reward: float) -> None:
    models.pulls[number] += 1
    append_row(models.rows, x, number, reward)


@inlined
def _history_of(models: ArmModels, number: int) -> Sample:
    """Return every row of a model that is kept once."""
    positions = positions_of(models.rows, number)
    dropped = models.pulls[number] - positions.size
    return Sample(models.rows, positions, models.counts[: positions.size], dropped)


@dispatched
def prepare(models: Any, arms: np.ndarray, rng: np.random.Generator) -> None:
    """Train the models of these arms, if they are trained before every choice."""
    raise TypeError("replaced by dispatch")


def _nothing(models: Any, arms: np.ndarray, rng: np.random.Generator) -> None:
    pass


def _train(models: ArmModels, arms: np.ndarray, rng: np.random.Generator) -> None:
    for i in range(1 if models.design.shared else arms.size):
        number = model_of(models.design, arms[i])
        if models.pulls[number] > 0:
            refit(models.model, number, _history_of(models, number), rng)


@dispatched
def take_case(models: Any, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    """Update the model of an arm, or that of all, with a reward."""
    raise TypeError("replaced by dispatch")


def _into_table(
    models: TableModel, case: Case, arm: int, reward: float, rng: np.random.Generator
) -> None:
    update_table(models.table, learned_row(models.table, case, arm), reward, models.counts)
    models.pulls[0] += 1


def _into_rows(
    models: ArmModels, case: Case, arm: int, reward: float, rng: np.random.Generator
) -> None:
    design = models.design
    follow(models, case_row(design, case), model_of(design, arm), reward, rng)


@dispatched
def follow(
    models: ArmModels, x: np.ndarray, number: int, reward: float, rng: np.random.Generator
) -> None:
    """Add an observation to the history of a model, and update the model."""
    raise TypeError("replaced by dispatch")


def _take_in(
    models: _Incremental, x: np.ndarray, number: int, reward: float, rng: np.random.Generator
) -> None:
    models.pulls[number] += 1
    set_only_row(models.rows, x, reward)
    sample = Sample(models.rows, models.only, models.counts[:1], 0)
    partial_fit(models.model, number, sample, rng)


def _keep_up(
    models: _Online, x: np.ndarray, number: int, reward: float, rng: np.random.Generator
) -> None:
    models.pulls[number] += 1
    keep_row(models.rows, x, number, reward, models.pulls[number], models.most, rng)
    partial_fit(models.model, number, _history_of(models, number), rng)


def _fit_again(
    models: _RefitOnReward, x: np.ndarray, number: int, reward: float, rng: np.random.Generator
) -> None:
    _add(models, x, number, reward)
    refit(models.model, number, _history_of(models, number), rng)


def _note(
    models: _TrainOnChoice, x: np.ndarray, number: int, reward: float, rng: np.random.Generator
) -> None:
    _add(models, x, number, reward)


for _kind, _follow, _prepare in (
    (_Incremental, _take_in, _nothing),
    (_Online, _keep_up, _nothing),
    (_RefitOnReward, _fit_again, _nothing),
    (_TrainOnChoice, _note, _train),
):
    bind(follow, _kind, _follow)
    bind(prepare, _kind, _prepare)
    bind(fits_to_choose_now, _kind, _always if _kind is _TrainOnChoice else _never)
    bind(expected, _kind, _by_rows)
    bind(take_case, _kind, _into_rows)

bind(expected, TableModel, _by_table)
bind(take_case, TableModel, _into_table)
bind(prepare, TableModel, _nothing)
bind(fits_to_choose_now, TableModel, _never)
