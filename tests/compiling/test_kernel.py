"""Kernels, those that call each other, and dispatch on the state's class."""

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

from giro import BadParameter, simulate
from giro.compiling import bind, dispatched, inlined, is_kernel, kernel, plain
from giro.simulation.play import play


class Doubling(NamedTuple):
    value: float


class Halving(NamedTuple):
    value: float


@dispatched
def changed(state: NamedTuple) -> float:
    """Return the value, changed."""
    raise TypeError("replaced by dispatch")


@kernel
def _doubled(state: Doubling) -> float:
    return state.value * 2


@kernel
def _halved(state: Halving) -> float:
    return state.value / 2


@kernel
def changed_twice(state: NamedTuple) -> float:
    return changed(state) + changed(state)


def test_a_kernel_keeps_its_python_body() -> None:
    assert is_kernel(_doubled)
    assert not is_kernel(plain(_doubled))
    assert _doubled(Doubling(3.0)) == plain(_doubled)(Doubling(3.0)) == 6.0


def test_a_dispatched_name_calls_what_is_bound_to_the_class_compiled_or_not() -> None:
    bind(changed, Doubling, _doubled)
    bind(changed, Halving, _halved)
    for function in (changed_twice, plain(changed_twice)):
        assert function(Doubling(3.0)) == 12.0
        assert function(Halving(3.0)) == 3.0


# -- kernels that call each other ----------------------------------------------------------------


def dispatcher_of(function: Any) -> Any:
    """Return a kernel as what numba made of it, which has no types."""
    return function


@kernel
def _root(x: float) -> float:
    return math.sqrt(x)


@kernel
def _root_inside(x: float) -> float:
    return _root(x)


def test_a_kernel_called_from_python_and_from_kernels_is_the_same() -> None:
    for first, second in ((_root, _root_inside), (_root_inside, _root)):  # whichever comes first
        numbers: tuple[Any, ...] = (2.0, 3, np.float32(0.1))
        for x in numbers:
            assert first(x) == second(x)
    assert _root_inside(2.0) == math.sqrt(2.0)


@kernel
def _not_negative(x: float) -> float:
    if x < 0.0:
        raise ValueError("negative", x)  # needs Python objects of the called kernel
    return x


@kernel
def _sum_of_two(x: float, y: float) -> float:
    return _not_negative(x) + _not_negative(y)


@kernel
def scaled(x: float, times: int) -> float:
    return x * times


@kernel
def scaled_in_three_ways(x: float, times: int) -> float:
    return scaled(x, 2) + scaled(x, 3) + scaled(x, times)


def test_a_kernel_is_compiled_once_for_all_constants() -> None:
    assert scaled_in_three_ways(1.0, 4) == 9.0
    assert len(dispatcher_of(scaled).get_overload.__self__.overloads) == 1


def test_errors_of_kernels_that_kernels_call_tell_what_came() -> None:
    assert _sum_of_two(1.0, 2.0) == 3.0
    with pytest.raises(ValueError, match=re.escape("('negative', -0.5)")):
        _sum_of_two(1.0, -0.5)


@kernel
def _factorial(n: int) -> int:
    if n <= 1:
        return 1
    return n * _factorial(n - 1)


@kernel
def _factorial_inside(n: int) -> int:
    return _factorial(n) + _factorial(n - 1)


def test_a_kernel_may_call_itself() -> None:
    assert _factorial_inside(5) == 144  # first from a kernel
    assert _factorial(10) == math.factorial(10)


class Total(NamedTuple):
    values: Sequence[float | Fraction] | np.ndarray


@inlined
def added_up(state: Total, factor: Any) -> Any:
    total = 0.0
    for each in state.values:
        total += factor * each
    return total


@kernel
def _added_up_twice(state: Total) -> float:
    return added_up(state, 1.0) + added_up(state, 1.0)


def test_inlined_functions_are_python_in_python_and_compiled_in_kernels() -> None:
    assert not is_kernel(added_up)
    assert (
        added_up(Total([Fraction(1, 3), Fraction(2, 3)]), Fraction(2)) == 2
    )  # of no kernel's type
    state = Total(np.array([0.1, 0.2, 0.3]))
    assert _added_up_twice(state) == plain(_added_up_twice)(state) == 2 * added_up(state, 1.0)


def test_classes_of_one_name_and_fields_are_kept_apart() -> None:
    # numba tells named tuples apart by name and fields, and takes one of these for the other
    makers = [lambda v: v + 1.0, lambda v: v - 1.0]
    results = []
    for maker in makers:
        state, function = _alike(kernel(maker))
        bind(changed, state, function)
        results.append(changed_twice(state(10.0)))
    assert results == [22.0, 18.0]


def _alike(change):
    class State(NamedTuple):
        value: float

    @kernel
    def function(state: State) -> float:
        return change(state.value)

    return State, function


def test_policies_with_states_that_look_alike_do_not_play_as_each_other() -> None:
    regret = [
        simulate(policy, "bernoulli", rounds=300, runs=2, seed=1).regret[:, -1].tolist()
        for policy in ("ucb1", "greedy", "ucb1")
    ]
    assert regret[0] == regret[2] != regret[1]


def test_a_class_cannot_be_bound_twice() -> None:
    bind(changed, Doubling, _doubled)
    with pytest.raises(BadParameter, match="a state class of its own"):
        bind(changed, Doubling, _halved)


def test_a_class_that_is_not_bound_is_refused() -> None:
    class Unbound(NamedTuple):
        value: float

    with pytest.raises(BadParameter, match="'changed' is not bound for states of"):
        changed(Unbound(1.0))


def test_the_loop_releases_the_interpreter_and_divides_as_numpy_does() -> None:
    assert dispatcher_of(play).targetoptions["nogil"]
    assert np.isinf(kernel(lambda x: 1.0 / x)(0.0))
