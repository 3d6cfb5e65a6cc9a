"""Compiling: the only rooms that know numba.

>>> from giro.compiling import kernel
>>> @kernel
... def double(x: float) -> float:
...     return 2 * x
>>> double(4.0)
8.0
"""

from numba import literal_unroll as unrolled  # a loop over members of different types

from giro.compiling.kernel import (
    bind,
    borrowed,
    dispatched,
    dispatched_call,
    implementation,
    in_python,
    inline_kernel,
    inlined,
    is_kernel,
    kernel,
    plain,
)

__all__ = [
    "bind",
    "borrowed",
    "dispatched",
    "dispatched_call",
    "implementation",
    "in_python",
    "inline_kernel",
    "inlined",
    "is_kernel",
    "kernel",
    "plain",
    "unrolled",
]
