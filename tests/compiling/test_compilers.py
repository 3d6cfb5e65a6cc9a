"""What the compilers of kernels leave out, and what they leave as it was."""

import gc
import itertools
import math
from collections.abc import Iterable
from typing import Any

import numba
import numpy as np
import pytest
from llvmlite import binding  # type: ignore[import-untyped]  # it has no types
from numba.core.compiler import Flags, run_frontend
from numba.core.errors import TypingError
from numba.core.registry import cpu_target
from numba.core.typing.npydecl import NumpyRulesArrayOperator

from giro.compiling import compilers, kernel, plain


def dispatcher_of(function: Any) -> Any:
    """Return a kernel as what numba made of it, which has no types."""
    return function


@kernel
def _root(x: float) -> float:
    return math.sqrt(x)


@kernel
def _root_inside(x: float) -> float:
    return _root(x)


def test_what_only_kernels_call_has_no_way_in_from_python() -> None:
    @kernel
    def inner(x: float) -> float:
        return x + 1.0

    @kernel
    def outer(x: float) -> float:
        return inner(x) * 2.0

    assert outer(1.0) == 4.0
    assert not dispatcher_of(inner).overloads  # the form that Python calls was not needed
    assert inner(1.0) == 2.0
    assert len(dispatcher_of(inner).overloads) == 1
    assert outer(2.0) == 6.0


def test_no_machine_code_is_made_of_what_only_kernels_call() -> None:
    def defined(results: Iterable[Any]) -> int:
        return sum(len(list(result.library.get_defined_functions())) for result in results)

    assert _root_inside(2.0) == math.sqrt(2.0)
    assert defined(dispatcher_of(_root_inside).overloads.values())
    assert not defined(dispatcher_of(_root).get_overload.__self__.overloads.values())


def test_what_numba_asks_for_often_is_answered_as_numba_does() -> None:
    flags = Flags()
    flags.nrt, flags.error_model = True, "numpy"
    assert compilers._values(flags) == flags.values()
    code = run_frontend(plain(_root_inside))
    instructions = [each for block in code.blocks.values() for each in block.body]
    for instruction in instructions:
        variables = compilers._variables(instruction, instruction.__dict__)
        assert variables == instruction._rec_list_vars(instruction.__dict__)
    assert any(instruction.list_vars() for instruction in instructions)


def test_operators_have_the_signatures_that_numba_finds() -> None:
    number, row = numba.types.float64, numba.types.float64[::1]
    kinds = [number, numba.types.int64, numba.types.Optional(number), numba.types.none, row]
    kinds.append(numba.types.Optional(row))
    found = []
    operators = [
        rules for rules in NumpyRulesArrayOperator.__subclasses__() if hasattr(rules, "key")
    ]
    for rules in operators:
        for pair in itertools.product(kinds, repeat=2):
            sides = [
                generic(rules(cpu_target.typing_context), pair, {})
                for generic in (compilers._operator_of_arrays, NumpyRulesArrayOperator.generic)
            ]
            assert sides[0] == sides[1]
            found.append(sides[0])
    assert any(found)
    assert not all(found)


def test_numba_and_python_are_as_before_after_compiling() -> None:
    def methods() -> list[Any]:
        return [getattr(owner, name) for owner, name, _ in compilers._QUICKER]

    before, collects = methods(), gc.isenabled()

    def wrong(x: Any) -> Any:
        return x.no_such_thing

    with pytest.raises(TypingError):
        kernel(wrong)(1.0)
    assert kernel(lambda x: x + 1)(1) == 2
    assert (methods(), gc.isenabled()) == (before, collects)
    assert compilers._depth == 0


def test_functions_of_numba_that_kernels_use_serve_others_too() -> None:
    values = np.array([3.0, 1.0, 2.0])

    def highest(values: np.ndarray) -> float:
        return float(np.sort(values)[-1] + values.sum())

    jit = numba.njit  # noqa: TID251  # as others use numba
    assert kernel(highest)(values) == jit(highest)(values) == 9.0


def test_who_listens_to_llvm_is_told_again_after_compiling() -> None:
    lock = binding.ffi.lib._lock
    before = list(lock._cblist)
    assert kernel(lambda x: x + 1)(1) == 2
    assert lock._cblist == before != []
