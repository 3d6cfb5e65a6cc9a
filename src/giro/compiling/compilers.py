"""How kernels are compiled: numba's own compiler, without what it need not do.

numba links the code of a called kernel into its caller, optimises the whole and turns it into
machine code. Before that, it has done the same with the called kernel alone, and with what that
calls: code is optimised once for every caller on the way up, and machine code is made that nobody
runs. So kernels have two forms, and the one that other kernels call stays code to be linked. With
this, compiling a policy takes four sevenths of the time.
"""

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import binding, ir  # type: ignore[import-untyped]  # as numba, which pins it
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags

_NUMBER = ir.IntType(64)  # as long as a pointer
_LOCK = threading.Lock()
_ENVIRONMENT = "_ZN08NumbaEnv"  # how names of pointers to Python objects begin, one per kernel


class _Flags(Flags):  # type: ignore[misc]  # numba is untyped
    """numba's options of a compilation, which it compares for every function that is called."""

    __slots__ = ()

    def values(self) -> dict[str, Any]:
        """Return all options with their values; numba's own asks for each of some forty."""
        own: dict[str, Any] = self._values
        return _defaults() | own


_Flags.__name__ = "Flags"  # which is part of the names of compiled functions


@functools.cache
def _defaults() -> dict[str, Any]:
    return {name: option.default for name, option in _Flags.options.items()}


@contextmanager
def _unobserved() -> Iterator[None]:
    """Tell nobody of each call of LLVM, of which there are a thousand a kernel.

    numba has an event for it, which takes a sixteenth of the time if nobody listens.
    """
    callbacks = getattr(getattr(binding.ffi.lib, "_lock", None), "_cblist", [])
    with _LOCK:  # of two threads that compile, one finds them gone
        kept = callbacks[:]
        callbacks.clear()
    try:
        yield
    finally:
        callbacks.extend(kept)


class OuterCompiler(Compiler):  # type: ignore[misc]  # numba is untyped
    """numba's compiler for kernels that Python calls."""

    def __init__(  # as numba's
        self,
        typingctx: Any,
        targetctx: Any,
        library: Any,
        args: Any,
        return_type: Any,
        flags: Any,
        locals: Any,
    ) -> None:
        """Take what numba's takes, and compare its options quickly."""
        flags.__class__ = _Flags
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)

    def compile_extra(self, func: Any) -> Any:
        """Compile a function."""
        with _unobserved():
            return super().compile_extra(func)


class _InnerLibrary(JITCodeLibrary):  # type: ignore[misc]  # numba is untyped
    """The code of one kernel, to be linked into others."""

    _final_module: Any

    def _optimize_final_module(self) -> None:
        """Leave that to the callers, which optimise it together with their own code."""

    def _finalize_final_module(self) -> None:
        """Give numba, in place of the code, a module with just the pointers that it sets."""
        self._finalize_dynamic_globals()
        self._finalized = True
        self._get_module_for_linking()  # which is kept
        pointers = self._codegen._create_empty_module(self.name)
        for variable in self._final_module.global_variables:
            if variable.name.startswith(_ENVIRONMENT):
                pointer = ir.GlobalVariable(pointers, _NUMBER, variable.name)
                pointer.linkage, pointer.initializer = "common", ir.Constant(_NUMBER, 0)
        self._final_module = binding.parse_assembly(str(pointers))
        super()._finalize_final_module()


class InnerCompiler(OuterCompiler):
    """numba's compiler for kernels that only other kernels call."""

    def define_pipelines(self) -> Any:
        """Return numba's own passes, which write into such a library."""
        state = self.state
        state.library = _InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().define_pipelines()


class InlinedCompiler(InnerCompiler):
    """The same for kernels that are compiled into their callers.

    numba's own option would hold for all that such a kernel calls, and numba's functions would be
    compiled once for kernels with it and once for those without.
    """

    def define_pipelines(self) -> Any:
        """Return the passes; what is called has its options already."""
        self.state.flags.forceinline = True
        return super().define_pipelines()
