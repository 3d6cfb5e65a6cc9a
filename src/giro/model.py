"""Model: the contract of a reward model, parameters and three functions of a fitted state."""

from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from giro.compiling import bind, dispatched, dispatched_call, in_python, plain
from giro.kernels.regression.rows import Rows
from giro.named import Named
from giro.offer import Context

MOST_ROWS = 16_384
"""Rows of an arm that giro's models look back to, if they follow its history."""

Fitting: TypeAlias = Literal["row", "history", "refit", "train"]


class Sample(NamedTuple):
    """Rows of one arm, and how often each is used with its reward, with 1 and with 0."""

    rows: Rows
    positions: np.ndarray  # [i] numbers of the rows
    counts: np.ndarray  # [i, kind] see `kernels.giro.pseudo_rewards`
    dropped: int = 0  # rows of the arm that are not kept any more, see `Model.most_rows`


class Model(Named, kind="model", home="giro.models"):
    """Parameters of a reward model, and how it is fitted and predicts.

    `start` prepares a number of fits, its slots: one for each arm, or for each arm and
    replica. `refit`, `partial_fit` and `value` are functions of that state, kernels unless
    `compiles` is False. A model sees rows of a regression (`kernels.regression.design`), which hold
    a constant 1, so it adds no intercept. In `start` the slots draw one after the other. With more
    slots, the first ones therefore draw the same numbers. The capacity changes no draw.
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
    others, so memory and the time of a reward are bounded.
    """

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
    for generic in (refit, partial_fit, unfinished, value):
        function = getattr(type(model), generic.__name__)
        bind(generic, type(state), function if model.compiles else plain(function))
    return state
