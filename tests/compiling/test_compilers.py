"""What the compilers of kernels leave out, and what they leave as it was."""

import math
from collections.abc import Iterable
from typing import Any

from llvmlite import binding  # type: ignore[import-untyped]  # it has no types
from numba.core.compiler import Flags

from giro.compiling import compilers, kernel


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


def test_options_of_a_compilation_are_those_of_numba() -> None:
    flags = Flags()
    flags.nrt, flags.error_model = True, "numpy"
    assert compilers._Flags(flags).values() == flags.values()
    assert compilers._Flags(flags) == flags
    assert compilers._Flags(flags).get_mangle_string() == flags.get_mangle_string()


def test_who_listens_to_llvm_is_told_again_after_compiling() -> None:
    lock = binding.ffi.lib._lock
    before = list(lock._cblist)
    assert kernel(lambda x: x + 1)(1) == 2
    assert lock._cblist == before != []
