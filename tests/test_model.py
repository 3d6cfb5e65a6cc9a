"""What a reward model is: what it must say, and how its functions are found."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from giro.model import Model, Sample, partial_fit, refit, start, value
from giro.seeds import stream

NOTHING: Any = Sample(None, np.empty(0, np.int64), np.empty((0, 3), np.int32))  # type: ignore[arg-type]


class _State(NamedTuple):
    means: np.ndarray  # [slot]


class Constant(Model):
    """Expects what it was last told, in plain Python."""

    compiles = False

    def start(self, slots: int, n_features: int, capacity: int, rng: np.random.Generator) -> _State:
        return _State(rng.random(slots))

    @staticmethod
    def refit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
        state.means[slot] = 0.25

    @staticmethod
    def partial_fit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
        state.means[slot] += 0.5

    @staticmethod
    def value(state: _State, slot: int, context: np.ndarray) -> float:
        return float(state.means[slot] + context.sum())


def test_a_model_that_says_nothing_is_told_what_is_missing() -> None:
    with pytest.raises(NotImplementedError, match="Model does not say how it starts"):
        Model().start(1, 1, 1, stream(0))
    for call, complaint in (
        (lambda: Model.refit(None, 0, NOTHING, stream(0)), "needs a function refit"),
        (lambda: Model.partial_fit(None, 0, NOTHING, stream(0)), "needs a function partial_fit"),
        (lambda: Model.value(None, 0, np.zeros(1)), "needs a function value"),
    ):
        with pytest.raises(NotImplementedError, match=complaint):
            call()


def test_functions_of_a_state_are_those_of_its_model() -> None:
    state, rng = start(Constant(), 2, 1, 10, stream(3)), stream(0)
    begin = stream(3).random(2)
    refit(state, 1, NOTHING, rng)
    assert value(state, 0, np.array([1.0])) == begin[0] + 1.0
    assert value(state, 1, np.array([1.0])) == 1.25
    partial_fit(state, 1, NOTHING, rng)
    assert value(state, 1, np.array([0.0])) == 0.75


def test_a_model_in_python_has_a_state_that_kernels_do_not_know() -> None:
    state = start(Constant(), 1, 1, 10, stream(0))
    assert isinstance(state, _State)
    assert type(state) is not _State
    assert vars(type(state))["is_in_python"]
