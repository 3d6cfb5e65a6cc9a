"""States handed to numba once, for callers that call kernels from Python again and again."""

from typing import Any, NamedTuple

import numba
import numpy as np
from numba.experimental import structref

from giro.compiling import kernel


@structref.register
class _HeldType(numba.types.StructRef):  # type: ignore[misc]  # numba is untyped
    """What numba knows a held state by: the types of its fields."""


class Held(structref.StructRefProxy):  # type: ignore[misc]  # numba is untyped
    """A state and two generators, handed to numba once; made by `hold`.

    Inside a kernel its fields are `state`, `choosing` and `learning`. Calling a kernel with a named
    tuple of arrays costs 25 µs, because each array is taken apart and put together again; calling
    it with a held state costs less than 1 µs. Arrays are shared, not copied: what a kernel does to
    a held state is seen in the state that was given to `hold`.
    """


structref.define_proxy(Held, _HeldType, ["state", "choosing", "learning"])


class HeldInPython(NamedTuple):
    """The same for plain Python, where nothing needs to be handed over."""

    state: Any
    choosing: np.random.Generator
    learning: np.random.Generator


@kernel
def hold(state: Any, choosing: np.random.Generator, learning: np.random.Generator) -> Held:
    """Return the state and its generators in a form that kernels take at little cost."""
    return Held(state, choosing, learning)
