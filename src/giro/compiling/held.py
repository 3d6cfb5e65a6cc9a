"""States handed to numba once, for callers that call kernels from Python again and again."""

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.experimental import structref
from numba.np.numpy_support import as_dtype

from giro.errors import BadParameter


@structref.register
class _HeldType(numba.types.StructRef):  # type: ignore[misc]  # numba is untyped
    """The numba type of a held state: the types of its fields."""


class Held(structref.StructRefProxy):  # type: ignore[misc]  # numba is untyped
    """A state, moments of columns and two generators, handed to numba once by `hold`.

    Inside a kernel its fields are `state`, `moments`, `choosing` and `learning`. Calling a kernel
    with a named tuple of arrays costs 25 µs, because each array is taken apart and put together
    again; calling it with a held state costs less than 1 µs. Arrays are shared, not copied: what a
    kernel does to a held state is seen in the state that was given to `hold`.
    """


structref.define_boxing(_HeldType, Held)


class HeldInPython(NamedTuple):
    """The same for plain Python, where nothing needs to be handed over."""

    state: Any
    moments: Any
    choosing: np.random.Generator
    learning: np.random.Generator


class Direct:
    """A kernel that Python calls again and again with arguments of the same types.

    numba looks at the types of all arguments of every call, which takes 2 µs where one of them is a
    held state. `call` is the kernel at first, and then the code that it has compiled for the
    arguments of the first call: all others must have the same types, and arrays be contiguous.
    """

    __slots__ = ("_kernel", "call")

    def __init__(self, kernel: Callable[..., Any]) -> None:
        """Begin with the kernel itself, or a plain function, which stays."""
        self._kernel = kernel
        self.call: Callable[..., Any] = self._first if hasattr(kernel, "overloads") else kernel

    def _first(self, *arguments: Any) -> Any:
        result = self._kernel(*arguments)
        kinds = tuple(numba.typeof(argument) for argument in arguments)
        compiled = self._kernel.overloads.get(kinds)  # type: ignore[attr-defined]  # a dispatcher
        if compiled is not None:
            self.call = compiled.entry_point
        return result


def hold(
    state: Any, moments: Any, choosing: np.random.Generator, learning: np.random.Generator
) -> Held:
    """Return a state, moments and generators in a form that kernels take at little cost.

    What a kernel would write into a new structure is written here, because a kernel that does only
    this takes longer to compile than many a policy.
    """
    fields = (state, moments, choosing, learning)
    kinds = [numba.typeof(field) for field in fields]
    content = _laid_out([_packed(*each) for each in zip(kinds, fields, strict=True)]).content
    rtsys.initialize(cpu_target.target_context)  # done already if anything was compiled
    memory = rtsys.meminfo_alloc(len(content))
    ctypes.memmove(memory.data, content, len(content))
    kind = _HeldType(list(zip(HeldInPython._fields, kinds, strict=True)))
    held: Held = Held._numba_box_(kind, memory)
    held.kept = fields  # kernels count no references to them
    return held


class _Packed(NamedTuple):
    """Some bytes, and a number of which their address is a multiple."""

    content: bytes
    alignment: int


def _packed(kind: Any, value: Any) -> _Packed:
    """Return a value as numba has it in memory."""
    if isinstance(kind, numba.types.BaseTuple):
        return _laid_out([_packed(*each) for each in zip(kind, value, strict=True)])
    if isinstance(kind, numba.types.Array):  # which nobody counts
        counts = (0, 0, value.size, value.itemsize, value.ctypes.data)
        return _words(*counts, *value.shape, *value.strides)
    if isinstance(kind, numba.types.NumPyRandomGeneratorType):
        return _packed_generator(value)
    if kind == numba.types.none:
        return _words(0)  # a pointer that nobody follows
    if isinstance(kind, numba.types.Number | numba.types.Boolean):
        dtype = as_dtype(kind)
        return _Packed(np.asarray(value, dtype).tobytes(), dtype.itemsize)
    raise BadParameter(
        "the state of a compiled policy is made of arrays, numbers, booleans and named tuples of "
        f"these; got {type(value).__name__}"
    )


def _packed_generator(generator: np.random.Generator) -> _Packed:
    """Return a generator in numba's form: where its state is, and functions in C."""
    bits = generator.bit_generator
    functions = bits.ctypes
    addresses = (
        _address(getattr(functions, name)) for name in ("next_uint64", "next_uint32", "next_double")
    )
    state = functions.state_address, functions.state.value
    return _words(id(bits), *state, *addresses, functions.bit_generator.value, 0, id(generator))


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _words(*numbers: int) -> _Packed:
    return _Packed(np.array(numbers, np.int64).tobytes(), 8)


def _laid_out(parts: list[_Packed]) -> _Packed:
    """Return parts one behind the other, each at an address that it may have, as C does."""
    content, largest = b"", 1
    for part, alignment in parts:
        content += bytes(-len(content) % alignment) + part
        largest = max(largest, alignment)
    return _Packed(content + bytes(-len(content) % largest), largest)
