"""Model: the contract of a reward model, parameters and three functions of a fitted state."""

from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from giro.compiling import bind, dispatched, dispatched_call, in_python, inlined, plain
from giro.errors import BadParameter
from giro.kernels.giro.pseudo_rewards import ONE, REAL, ZERO
from giro.kernels.memory import Everything, HalfLife, Window, first_since, left_since
from giro.kernels.regression.rows import Rows
from giro.named import Named
from giro.offer import Context

MOST_ROWS = 16_384
"""Rows of an arm that giro's models look back to, if they follow its history."""
_SUM = 35  # sums of weights, ln 2 half-lives, in the reach of a half-life

Fitting: TypeAlias = Literal["row", "history", "refit", "train"]


class Sample(NamedTuple):
    """Rows of one arm, and how often each is used with its reward, with 1 and with 0."""

    rows: Rows
    positions: np.ndarray  # [i] numbers of the rows
    counts: np.ndarray  # [i, kind] see `kernels.giro.pseudo_rewards`
    dropped: int = 0  # rows of the arm that are not kept any more, see `Model.most_rows`
    memory: Any = Everything()  # says how much a row still counts; the newest row counts in full


class Model(Named, kind="model", home="giro.models"):
    """Parameters of a reward model, and how it is fitted and predicts.

    `start` prepares a number of fits, its slots: one for each arm, or for each arm and
    replica. `refit`, `partial_fit` and `value` are functions of that state, kernels unless
    `compiles` is False. A model sees rows of a regression (`kernels.regression.design`), which hold
    a constant 1, so it adds no intercept. In `start` the slots draw one after the other. With more
    slots, the first ones therefore draw the same numbers. The capacity changes no draw.

    In a world that changes, a sample has a memory. A model forgets when it learns: `recent`, and
    `faded_counts` or `whole_counts`, say what still counts, and between two rewards of a slot its
    predictions stay as they are.
    """

    source: ClassVar[str] = ""
    compiles: ClassVar[bool] = True
    fitting: Fitting = "refit"
    """How a slot follows its rows.

    - row: by `partial_fit`, which is exact and sees only the last row. Its cost does not grow.
    - history: by `partial_fit`, with all rows of the slot at hand.
    - refit: by `refit` with every reward. Fitting again to the same sample changes nothing.
    - train: by `refit` in every round, which goes on from the last fit.
    """
    refits_from_scratch: ClassVar[bool] = (
        False  # a fit does not depend on the one before, to the last bit
    )

    most_rows: int | None = None
    """How many rows of an arm it can look back to, where it follows its history.

    None means all of them. Otherwise a policy keeps the newest row and a uniform sample of the
    others, or the newest rows if it forgets, so memory and the time of a reward are bounded.
    """

    def forgetting(self, *, windowed: bool) -> "Model":
        """Return the model that learns where rewards fade, or leave a window if it is `windowed`.

        It is the model itself, but for one that keeps sums.
        """
        return self

    def without_window(self, *, windowed: bool) -> "Model":
        """Return the model itself, or raise because it cannot take back a reward."""
        if windowed:
            raise BadParameter(
                f"the model {self.name} cannot take back a reward that leaves a window, because "
                "all steps since depend on it: give half_life instead of window, or another model"
            )
        return self

    def start(self, slots: int, n_features: int, capacity: int, rng: np.random.Generator) -> Any:
        """Return the state before anything is fitted."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it starts")

    @staticmethod
    def refit(state: Any, slot: int, sample: Sample, rng: np.random.Generator) -> None:
        """Fit to the whole sample, starting from the slot's last fit."""
        raise NotImplementedError("a model needs a function refit")

    @staticmethod
    def partial_fit(state: Any, slot: int, sample: Sample, rng: np.random.Generator) -> None:
        """Update the fit with the last row of the sample.

        See `fitting` for the rows that are at hand. Some may be skipped.
        """
        raise NotImplementedError("a model needs a function partial_fit")

    @staticmethod
    def forget(state: Any, slot: int, sample: Sample) -> None:
        """Take the only row of the sample, which leaves a window, out of the fit.

        Models that see all rows when they learn have nothing to do.
        """

    @staticmethod
    def unfinished(state: Any) -> bool:
        """Return whether `partial_fit` has left work for its next calls."""
        return False

    @staticmethod
    def value(state: Any, slot: int, context: Context) -> float:
        """Return the expected reward in this context."""
        raise NotImplementedError("a model needs a function value")


@dispatched_call
def refit(state: Any, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Fit the model in this slot to the whole sample."""
    raise TypeError("replaced by dispatch")


@dispatched
def partial_fit(state: Any, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Update the model in this slot with the last row of the sample."""
    raise TypeError("replaced by dispatch")


@dispatched
def forget(state: Any, slot: int, sample: Sample) -> None:
    """Take the only row of the sample, which leaves a window, out of the fit in this slot."""
    raise TypeError("replaced by dispatch")


@dispatched
def unfinished(state: Any) -> bool:
    """Return whether the last update of the model has left work for the next."""
    raise TypeError("replaced by dispatch")


@dispatched
def value(state: Any, slot: int, context: Context) -> float:
    """Return the reward that the model in this slot expects."""
    raise TypeError("replaced by dispatch")


def start(
    model: Model, slots: int, n_features: int, capacity: int, rng: np.random.Generator
) -> Any:
    """Return the model's first state, ready for `refit`, `partial_fit` and `value`."""
    state = model.start(slots, n_features, capacity, rng)
    if not model.compiles:
        state = in_python(type(state))(*state)
    for generic in (refit, partial_fit, forget, unfinished, value):
        function = getattr(type(model), generic.__name__)
        bind(generic, type(state), function if model.compiles else plain(function))
    return state


# -- rows that still count -----------------------------------------------------------------------


@inlined
def recent(sample: Sample) -> Sample:
    """Return the rows that still count, at least the newest, with their counts."""
    return _recent(sample.memory, sample)


@dispatched
def _recent(memory: Any, sample: Sample) -> Sample:
    raise TypeError("replaced by dispatch")


def _all(memory: Everything, sample: Sample) -> Sample:
    return sample


def _in_window(memory: Window, sample: Sample) -> Sample:
    return _since(memory, sample, memory.learned[0] - memory.size)


def _in_reach(memory: HalfLife, sample: Sample) -> Sample:
    return _since(memory, sample, memory.learned[0] - memory.reach)


@inlined
def _since(memory: Any, sample: Sample, time: int) -> Sample:
    first = first_since(memory.times, sample.positions, time)
    first = min(first, max(sample.positions.size - 1, 0))
    positions, counts = sample.positions[first:], sample.counts[first:]
    return Sample(sample.rows, positions, counts, sample.dropped, memory)


@inlined
def recent_rows(sample: Sample) -> int:
    """Return how many rows came so far, not counting those that hardly count."""
    return _recent_rows(sample.memory, sample)


@dispatched
def _recent_rows(memory: Any, sample: Sample) -> int:
    raise TypeError("replaced by dispatch")


def _number_so_far(memory: Everything, sample: Sample) -> int:
    return int(sample.positions.size + sample.dropped)


def _number_in_window(memory: Window, sample: Sample) -> int:
    return int(recent(sample).positions.size)


def _number_of_weights(memory: HalfLife, sample: Sample) -> int:
    """Return the number of rows among as many rewards as the sum of all weights."""
    time = memory.learned[0] - memory.reach // _SUM
    first = first_since(memory.times, sample.positions, time)
    return max(int(sample.positions.size - first), 1)


@inlined
def faded_counts(sample: Sample) -> np.ndarray:
    """Return the counts of recent rows, times how much each row still counts."""
    return _faded_counts(sample.memory, sample)


@dispatched
def _faded_counts(memory: Any, sample: Sample) -> np.ndarray:
    raise TypeError("replaced by dispatch")


def _as_they_are(memory: Any, sample: Sample) -> np.ndarray:
    return sample.counts


def _faded(memory: HalfLife, sample: Sample) -> np.ndarray:
    counts = sample.counts.astype(np.float64)
    for i in range(sample.positions.size):
        left = left_since(memory, memory.times[sample.positions[i]] + 1)
        for kind in (REAL, ONE, ZERO):
            counts[i, kind] *= left
    return counts


@inlined
def whole_counts(sample: Sample, rng: np.random.Generator) -> np.ndarray:
    """Return counts for models that draw rows: a row that counts half is in with chance 1/2."""
    return _whole_counts(sample.memory, sample, rng)


@dispatched
def _whole_counts(memory: Any, sample: Sample, rng: np.random.Generator) -> np.ndarray:
    raise TypeError("replaced by dispatch")


def _undrawn(memory: Any, sample: Sample, rng: np.random.Generator) -> np.ndarray:
    return sample.counts


def _drawn(memory: HalfLife, sample: Sample, rng: np.random.Generator) -> np.ndarray:
    counts = np.zeros_like(sample.counts)
    for i in range(sample.positions.size):
        left = left_since(memory, memory.times[sample.positions[i]] + 1)
        for kind in (REAL, ONE, ZERO):
            for _ in range(sample.counts[i, kind]):
                counts[i, kind] += rng.random() < left
    return counts


for _kind, _rows, _many, _real, _whole in (
    (Everything, _all, _number_so_far, _as_they_are, _undrawn),
    (HalfLife, _in_reach, _number_of_weights, _faded, _drawn),
    (Window, _in_window, _number_in_window, _as_they_are, _undrawn),
):
    bind(_recent, _kind, _rows)
    bind(_recent_rows, _kind, _many)
    bind(_faded_counts, _kind, _real)
    bind(_whole_counts, _kind, _whole)
