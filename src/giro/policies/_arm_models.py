"""Reward models, one for each arm or one for all, that learn from the rewards of the arms.

The class of the `ArmModels` says how they learn, so that only that code is compiled. States that
hold a Python model cannot be passed to a kernel, so these functions are compiled into their
callers.
"""

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from giro.compiling import bind, dispatched, inline_kernel, inlined
from giro.kernels.generations import in_turns, learn_case, offered_rows, predicted
from giro.kernels.giro.pseudo_rewards import REAL
from giro.kernels.memory import (
    KNOWN,
    Everything,
    HalfLife,
    Memory,
    Window,
    exchange,
    exchange_row,
    fade,
    memory_of,
    note_row,
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
    keep_newest,
    keep_row,
    positions_of,
    set_only_row,
)
from giro.model import Fitting, Model, Sample, forget, partial_fit, refit, value
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
        """Wrap an estimator, and check that the model can forget if it has to."""
        super().__post_init__()
        if self.model is not None:
            object.__setattr__(self, "model", as_model(self.model))
            if not self.hashes_features:  # one table, or two where there is a window
                self.model.forgetting(windowed=self.window is not None)

    def memory(self, shape: Shape, *, rows: bool = True) -> Memory:
        """Return an empty memory, which keeps `rows` or only rewards."""
        columns, kept = (shape.width, shape.capacity) if rows else (0, 0)
        window, half_life = self.window, self.half_life
        return memory_of(shape, window=window, half_life=half_life, columns=columns, kept=kept)

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

    @property
    def learns_aside(self) -> bool:  # type: ignore[override]  # likewise
        """Whether the model is fitted to all rows when a reward comes, or is one in Python."""
        if self.model is None or self.choose_mutates_state:
            return False
        return self.model.fitting == "refit" or not self.compiles

    def most_rewards(self, shape: Shape) -> int | None:
        """Return the rows that its models keep, if that is bounded."""
        most = None if self.model is None else most_rows(self.model)
        return None if most is None else max(most * shape.n_models, self.window or 0)

    def has_propensities(self, *, binary: bool, shared: bool) -> bool:
        """Return whether probabilities are known: not if a model is trained before every choice."""
        return not self.choose_mutates_state and self.functions().propensities is not None


class ArmModels(NamedTuple):
    """Models, and the histories they need."""

    rows: Rows  # only the last one, if the model is incremental; at most `most` of each model
    pulls: np.ndarray  # [model] rows that count, see `empty_pulls`
    came: np.ndarray  # [model] rows so far
    model: Any  # fitted coefficients, a slot for each model
    counts: np.ndarray  # [i, kind] every observed reward once
    only: np.ndarray  # [1] number of the only row, 0
    design: Design
    most: int
    memory: Any  # which rows count, see `giro.kernels.memory`
    left: Rows  # only the row that leaves a window


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

    table: Any  # of one replica, or two that take turns, see `giro.kernels.generations`
    pulls: np.ndarray  # [1] rows that count
    counts: np.ndarray  # [1, kind] an observed reward once
    memory: Any  # how rows fade


def model_for(model: Model, memory: Memory) -> Model:
    """Return the model that learns with this memory."""
    if isinstance(memory, Everything):
        return model
    return model.forgetting(windowed=isinstance(memory, Window))


def empty_pulls(n_models: int, memory: Memory) -> np.ndarray:
    """Return zeros, to which a row adds 1. With a half-life rows fade."""
    return np.zeros(n_models, np.float64 if isinstance(memory, HalfLife) else np.int64)


@inline_kernel
def is_known(pulls: np.ndarray, number: int) -> bool:
    """Return whether there is half a row of a model or more. Without, it is as if untried."""
    return bool(pulls[number] >= KNOWN)


def start_any_models(model: Model, memory: Memory, shape: Shape, rng: np.random.Generator) -> Any:
    """Return models before any reward, or one table for all arms if features are hashed."""
    if not isinstance(model, Hashed):
        return start_models(model, memory, shape, rng)
    counts = np.zeros((1, 3), np.int32)
    counts[0, REAL] = 1
    table, memory = start_table(model, 1, memory)
    return TableModel(table, empty_pulls(1, memory), counts, memory)


def start_table(model: Hashed, replicas: int, memory: Memory) -> tuple[Any, Memory]:
    """Return a table for all arms, or two that take turns in a window, and how rows fade."""
    if isinstance(memory, Window):
        tables = in_turns(model.table(replicas), model.table(replicas), memory.size)
        return tables, Everything()
    return model.table(replicas), memory


def start_models(model: Model, memory: Memory, shape: Shape, rng: np.random.Generator) -> ArmModels:
    """Return models of rows before any reward."""
    model = model_for(model, memory)
    most = most_rows(model)
    kept = shape.capacity if most is None else min(shape.capacity, most * shape.n_models)
    counts = np.zeros((kept if most is None else min(kept, most), 3), np.int32)
    counts[:, REAL] = 1
    return _KINDS[model.fitting](
        empty_rows(shape.n_models, shape.width, kept, spaced=most is not None),
        empty_pulls(shape.n_models, memory),
        np.zeros(shape.n_models, np.int64),
        start_model(model, shape.n_models, shape.width, kept, rng),
        counts,
        np.zeros(1, np.int64),
        design_of(shape),
        _ALL if most is None else most,
        memory,
        empty_rows(shape.n_models, shape.width, 1),
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
    return predicted(models.table, offered_rows(models.table, offer), 0, 0.0)


def _by_rows(models: ArmModels, offer: Offer, untried: float) -> np.ndarray:
    values, x = np.full(offer.arms.size, untried), round_row(models.design, offer.context)
    for i in range(values.size):
        number = put_arm(models.design, offer, i)
        if is_known(models.pulls, number):
            values[i] = value(models.model, number, x)
    return values


@inlined
def _add(models: ArmModels, x: np.ndarray, number: int, reward: float) -> None:
    _count(models, x, number, reward)
    append_row(models.rows, x, number, reward)
    note_row(models.memory, models.rows.filled[0] - 1)


@inlined
def _count(models: ArmModels, x: np.ndarray, number: int, reward: float) -> None:
    """Count a row, and no longer the one that leaves a window, which the models forget."""
    left = models.left
    gone, left.rewards[0] = exchange_row(models.memory, number, reward, x, left.contexts[0])
    if gone >= 0:
        models.pulls[gone] -= 1
        sample = Sample(left, models.only, models.counts[:1], 0, models.memory)
        forget(models.model, gone, sample)
    fade(models.memory, models.pulls, 0.0)
    models.pulls[number] += 1
    models.came[number] += 1


@dispatched
def _keep(
    memory: Any,
    models: ArmModels,
    x: np.ndarray,
    number: int,
    reward: float,
    rng: np.random.Generator,
) -> None:
    """Add a row to a history that holds a bounded number of them."""
    raise TypeError("replaced by dispatch")


def _keep_some(
    memory: Everything,
    models: ArmModels,
    x: np.ndarray,
    number: int,
    reward: float,
    rng: np.random.Generator,
) -> None:
    keep_row(models.rows, x, number, reward, models.came[number], models.most, rng)


def _keep_newest(
    memory: Any,
    models: ArmModels,
    x: np.ndarray,
    number: int,
    reward: float,
    rng: np.random.Generator,
) -> None:
    note_row(memory, keep_newest(models.rows, x, number, reward, models.most))


bind(_keep, Everything, _keep_some)
bind(_keep, HalfLife, _keep_newest)
bind(_keep, Window, _keep_newest)


@inlined
def _history_of(models: ArmModels, number: int) -> Sample:
    """Return every row of a model that is kept once."""
    positions = positions_of(models.rows, number)
    dropped = models.came[number] - positions.size
    counts = models.counts[: positions.size]
    return Sample(models.rows, positions, counts, dropped, models.memory)


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
    exchange(models.memory, 0, reward)
    fade(models.memory, models.pulls, 0.0)
    gone = learn_case(models.table, case, arm, reward, models.counts, models.memory)
    models.pulls[0] += 1 - gone


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
    _count(models, x, number, reward)
    set_only_row(models.rows, x, reward)
    sample = Sample(models.rows, models.only, models.counts[:1], 0, models.memory)
    partial_fit(models.model, number, sample, rng)


def _keep_up(
    models: _Online, x: np.ndarray, number: int, reward: float, rng: np.random.Generator
) -> None:
    _count(models, x, number, reward)
    _keep(models.memory, models, x, number, reward, rng)
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
