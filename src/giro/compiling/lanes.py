"""Sixteen numbers at once: sums that stay in the processor's vector registers.

LLVM turns long loops into vector instructions by itself, but not loops over ten hidden units, and
it does not keep their sums in registers: each addition then waits for memory. In a kernel, *lanes*
are one value that stays there, whatever the processor (narrow registers: several of them). In plain
Python they are arrays of sixteen. Both give the same numbers bit for bit.
"""

import inspect
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # as numba
from numba import types
from numba.core.datamodel.models import PrimitiveModel
from numba.core.typing import signature
from numba.extending import lower_builtin, register_model, type_callable

LANES = 16
Lanes: TypeAlias = np.ndarray  # [LANES]
Function = TypeVar("Function", bound=Callable[..., Any])

_INT = ir.IntType(32)
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_ZEROS = ir.Constant(_VECTOR, [0.0] * LANES)
_ALIGNED = 8  # bytes: all that an array promises


class _LanesType(types.Type):  # type: ignore[misc]  # numba is untyped
    """The numba type of lanes."""


_LANES = _LanesType("lanes")


@register_model(_LanesType)
class _LanesModel(PrimitiveModel):  # type: ignore[misc]  # numba is untyped
    """The form in which numba keeps lanes: one LLVM vector."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _compiled_as(write: Callable[..., Any], *, result: Any) -> Callable[[Function], Function]:
    """Have kernels use, in place of a function, the LLVM code that `write` returns.

    `write` is given the builder and the arguments; arrays as pointers to their first number.
    """

    def generate(context: Any, builder: Any, call: Any, arguments: Any) -> Any:
        bare = list(arguments)
        for i, kind in enumerate(call.args):
            if isinstance(kind, types.Array):
                bare[i] = context.make_array(kind)(context, builder, arguments[i]).data
        value = write(builder, *bare)
        return context.get_dummy_value() if result is types.none else value

    def registered(function: Function) -> Function:
        def typed(*given: Any) -> Any:
            return signature(result, *(_wanted(kind) for kind in given))

        typed.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]  # it may
        type_callable(function)(lambda _: typed)
        lower_builtin(function, types.VarArg(types.Any))(generate)
        return function

    return registered


def _wanted(kind: Any) -> Any:
    """Return the type to which an argument is converted."""
    if isinstance(kind, types.Integer):
        return types.intp
    return types.float64 if isinstance(kind, types.Float) else kind


# -- LLVM code ---------------------------------------------------------------------------------


def _load(builder: Any, array: Any, i: Any) -> Any:
    return builder.load(_vector_at(builder, array, i), align=_ALIGNED)


def _store(builder: Any, array: Any, i: Any, lanes: Any) -> Any:
    return builder.store(lanes, _vector_at(builder, array, i), align=_ALIGNED)


def _vector_at(builder: Any, array: Any, i: Any) -> Any:
    return builder.bitcast(builder.gep(array, [i]), _VECTOR.as_pointer())


def _fetch(builder: Any, array: Any, i: Any) -> Any:
    address = builder.bitcast(builder.gep(array, [i]), ir.IntType(8).as_pointer())
    kind = ir.FunctionType(ir.VoidType(), [address.type, _INT, _INT, _INT])
    prefetch = builder.module.declare_intrinsic("llvm.prefetch", [address.type], kind)
    read, keep, data = (ir.Constant(_INT, flag) for flag in (0, 3, 1))
    return builder.call(prefetch, [address, read, keep, data])


def _add_multiple(builder: Any, lanes: Any, factor: Any, other: Any) -> Any:
    return builder.fadd(lanes, builder.fmul(_repeated(builder, factor), other))


def _repeated(builder: Any, number: Any) -> Any:
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(_INT, 0))
    return builder.shuffle_vector(first, nothing, _places([0] * LANES))


def _places(numbers: list[int]) -> Any:
    return ir.Constant(ir.VectorType(_INT, len(numbers)), numbers)


def _select_positive(builder: Any, sign: Any, lanes: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", sign, _ZEROS), lanes, _ZEROS)


def _clip(builder: Any, lanes: Any, bound: Any) -> Any:
    high = _repeated(builder, bound)
    low = builder.fsub(_ZEROS, high)
    lanes = builder.select(builder.fcmp_ordered(">", lanes, high), high, lanes)
    return builder.select(builder.fcmp_ordered("<", lanes, low), low, lanes)


def _fold(builder: Any, left: Any, right: Any) -> Any:
    lanes = builder.fmul(left, right)
    half = LANES // 2
    while half:
        nothing = ir.Constant(lanes.type, ir.Undefined)
        low = builder.shuffle_vector(lanes, nothing, _places(list(range(half))))
        high = builder.shuffle_vector(lanes, nothing, _places(list(range(half, 2 * half))))
        lanes, half = builder.fadd(low, high), half // 2
    return builder.extract_element(lanes, ir.Constant(_INT, 0))


# -- what kernels call -------------------------------------------------------------------------


@_compiled_as(lambda builder: _ZEROS, result=_LANES)
def zeros() -> Lanes:
    """Return sixteen zeros."""
    return np.zeros(LANES)


@_compiled_as(_load, result=_LANES)
def lanes_at(array: np.ndarray, i: int) -> Lanes:
    """Return the sixteen numbers of the array from the i-th on."""
    return array[i : i + LANES].copy()


@_compiled_as(_store, result=types.none)
def put(array: np.ndarray, i: int, lanes: Lanes) -> None:
    """Write the lanes into the array, from the i-th place on."""
    array[i : i + LANES] = lanes


@_compiled_as(_fetch, result=types.none)
def fetch(array: np.ndarray, i: int) -> None:
    """Ask the processor to load the i-th number of the array, which is wanted soon.

    Changes no value.
    """


@_compiled_as(_add_multiple, result=_LANES)
def plus(lanes: Lanes, factor: float, other: Lanes) -> Lanes:
    """Return lanes + factor · other."""
    return lanes + factor * other


@_compiled_as(_select_positive, result=_LANES)
def where_positive(sign: Lanes, lanes: Lanes) -> Lanes:
    """Return the lanes, but 0 where `sign` is not above 0."""
    return np.where(sign > 0.0, lanes, 0.0)


@_compiled_as(_clip, result=_LANES)
def within(lanes: Lanes, bound: float) -> Lanes:
    """Return the lanes, but ±bound where they are beyond it."""
    clipped: Lanes = np.clip(lanes, -bound, bound)
    return clipped


@_compiled_as(_fold, result=types.float64)
def inner_product(left: Lanes, right: Lanes) -> float:
    """Return the sum of the products, added up in halves: 8 sums, 4, 2, 1."""
    lanes = left * right
    while lanes.size > 1:
        lanes = lanes[: lanes.size // 2] + lanes[lanes.size // 2 :]
    return float(lanes[0])
