"""Compilers of kernels: numba's own, without unnecessary work.

numba links the code of a called kernel into its caller, optimises the whole and turns it into
machine code. Before that, it has done the same with the called kernel alone, and with what that
calls: code is optimised once for every caller on the way up, and machine code is made that nobody
runs. So kernels have two forms, and the one that other kernels call stays code to be linked. What
is a tuple is handed on as it came (see `lowering`).
"""

import functools
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import binding  # type: ignore[import-untyped]  # as numba, which pins it
from llvmlite import ir as llvm
from numba.core import ir, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.typed_passes import NativeLowering
from numba.core.typing.npydecl import NumpyRulesArrayOperator
from numba.core.untyped_passes import LiteralUnroll

from giro.compiling.lowering import ForgetUnrolling, Lowering

_NUMBER = llvm.IntType(64)  # as long as a pointer
_MANY = 500_000  # new objects to look through, which takes a tenth of a second
_ENVIRONMENT = "_ZN08NumbaEnv"  # how names of pointers to Python objects begin, one per kernel


# what numba asks most often while it compiles, and slowly: answered here in the same way


def _values(flags: Any) -> dict[str, Any]:
    """Return all options of a compilation with their values.

    numba asks for each of some forty.
    """
    own: dict[str, Any] = flags._values
    return _defaults() | own


@functools.cache
def _defaults() -> dict[str, Any]:
    return {name: option.default for name, option in Flags.options.items()}


def _variables(instruction: Any, value: Any) -> list[Any]:
    """Return the variables in a part of an instruction."""
    if isinstance(value, ir.Var):
        return [value]
    if isinstance(value, ir.Inst):
        return list(value.list_vars())
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list | tuple):
        return []
    variables = []
    for each in value:
        kind = type(each)
        if kind is ir.Var:
            variables.append(each)
        elif kind is not ir.Loc and kind is not str:  # of which most instructions have one
            variables += _variables(instruction, each)
    return variables


_on_arrays = NumpyRulesArrayOperator.generic


def _operator_of_arrays(rules: Any, kinds: Any, keywords: Any) -> Any:
    """Return the signature of an operator on arrays, or None for numbers alone.

    numba looks for a loop of NumPy's first, and for arrays afterwards.
    """
    bare = (getattr(kind, "type", kind) for kind in kinds)  # of what may be None: without that
    if any(isinstance(kind, types.ArrayCompatible) for kind in bare):
        return _on_arrays(rules, kinds, keywords)
    return None


_passes = Compiler.define_pipelines
_depth = 0  # of kernels that are compiled because another one calls them


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Compile a kernel, and all that it calls, without steps that take time and are of no use.

    Nobody is told of each call of LLVM, of which there are a thousand a kernel: numba has an event
    for it, which takes a sixteenth of the time if nobody listens. Python does not look for garbage,
    a sixth, but once at the end if there is much. Functions of numba's own become code to link,
    as ours do, and some methods are replaced by quicker ones. numba compiles one kernel at a time,
    so there is one such state of a process.
    """
    global _depth  # noqa: PLW0603  # changed by who has numba's lock
    callbacks = getattr(getattr(binding.ffi.lib, "_lock", None), "_cblist", [])
    kept, collects = callbacks[:], gc.isenabled()
    if _depth == 0:
        callbacks.clear()
        gc.disable()
        _exchange(_QUICKER)
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if _depth == 0:
            callbacks.extend(kept)
            _exchange(_NUMBAS)
            if collects:
                gc.enable()
                if gc.get_count()[0] > _MANY:
                    gc.collect()


def _exchange(methods: list[tuple[Any, str, Any]]) -> None:
    for owner, name, method in methods:
        setattr(owner, name, method)


def _inner_passes(compiler: Any) -> Any:
    """Return the passes for a function of numba's, which stays code to be linked if that is all."""
    flags = compiler.state.flags
    if flags.no_cpython_wrapper and not flags.force_pyobject:
        _link_only(compiler.state)
        return _quicker(_passes(compiler))
    return _passes(compiler)


def _link_only(state: Any) -> None:
    """Have a function compiled to code that is linked into others, and nothing else."""
    state.flags.no_cfunc_wrapper = True
    state.library = _InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
    state.library.enable_object_caching()


class OuterCompiler(Compiler):  # type: ignore[misc]  # numba is untyped
    """numba's compiler for kernels that Python calls."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function."""
        with _undisturbed():
            return super().compile_extra(func)

    def define_pipelines(self) -> Any:
        """Return numba's own passes, but for the one that writes LLVM's code."""
        return _quicker(_passes(self))


_QUICKER = [
    (Compiler, "define_pipelines", _inner_passes),
    (Flags, "values", _values),
    (ir.Inst, "_rec_list_vars", _variables),
    (NumpyRulesArrayOperator, "generic", _operator_of_arrays),
]
_NUMBAS = [(owner, name, getattr(owner, name)) for owner, name, _ in _QUICKER]


def _quicker(pipelines: Any) -> Any:
    """Return numba's passes with one of them replaced and one added."""
    for pipeline in pipelines:
        pipeline.passes = [
            (Lowering, text) if step is NativeLowering else (step, text)
            for step, text in pipeline.passes
        ]
        pipeline.add_pass_after(ForgetUnrolling, LiteralUnroll)
        pipeline.finalize()
    return pipelines


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
                pointer = llvm.GlobalVariable(pointers, _NUMBER, variable.name)
                pointer.linkage, pointer.initializer = "common", llvm.Constant(_NUMBER, 0)
        self._final_module = binding.parse_assembly(str(pointers))
        super()._finalize_final_module()


class InnerCompiler(OuterCompiler):
    """numba's compiler for kernels that only other kernels call."""

    def define_pipelines(self) -> Any:
        """Return numba's own passes, which write into such a library."""
        _link_only(self.state)
        return super().define_pipelines()


class InlinedCompiler(InnerCompiler):
    """The same for kernels that are compiled into their callers.

    numba's own option would hold for all that such a kernel calls, and numba's functions would be
    compiled once for kernels with it and once for those without.
    """

    def define_pipelines(self) -> Any:
        """Return the passes.

        Called kernels have their options already.
        """
        self.state.flags.forceinline = True
        return super().define_pipelines()
