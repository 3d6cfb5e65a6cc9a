"""States handed to numba once, for callers that call kernels from Python again and again."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.experimental import structref
from numba.extending import overload

from giro.compiling.kernel import CALLED_BY_KERNELS, kernel


@structref.register
class _HeldType(numba.types.StructRef):  # type: ignore[misc]  # numba is untyped
    """What numba knows a held state by: the types of its fields."""


class Held(structref.StructRefProxy):  # type: ignore[misc]  # numba is untyped
    """A state, moments of columns and two generators, handed to numba once; made by `hold`.

    Inside a kernel its fields are `state`, `moments`, `choosing` and `learning`. Calling a kernel
    with a named tuple of arrays costs 25 µs, because each array is taken apart and put together
    again; calling it with a held state costs less than 1 µs. Arrays are shared, not copied: what a
    kernel does to a held state is seen in the state that was given to `hold`.
    """


structref.define_boxing(_HeldType, Held)


@overload(Held, jit_options=CALLED_BY_KERNELS)  # type: ignore[untyped-decorator]  # numba is untyped
def _made(state: Any, moments: Any, choosing: Any, learning: Any) -> Callable[..., Any]:
    """Let kernels make one; `structref.define_constructor` does the same, and compiles longer."""
    fields = (("state", state), ("moments", moments), ("choosing", choosing))
    kind = _HeldType([*fields, ("learning", learning)])

    def make(state: Any, moments: Any, choosing: Any, learning: Any) -> Any:
        held = structref.new(kind)
        held.state = state
        held.moments = moments
        held.choosing = choosing
        held.learning = learning
        return held

    return make


class HeldInPython(NamedTuple):
    """The same for plain Python, where nothing needs to be handed over."""

    state: Any
    moments: Any
    choosing: np.random.Generator
    learning: np.random.Generator


@kernel
def hold(
    state: Any, moments: Any, choosing: np.random.Generator, learning: np.random.Generator
) -> Held:
    """Return a state, moments and generators in a form that kernels take at little cost."""
    return Held(state, moments, choosing, learning)


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
