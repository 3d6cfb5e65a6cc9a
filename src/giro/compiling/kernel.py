"""Compiled functions, and names that stand for many of them.

A *kernel* is a plain Python function that also compiles. A *dispatched* function is a name shared
by many kernels, picked by the type of its first argument, the state. Because nothing is passed as
a function, the loops built from them can be cached on disk.

Compile options live here. Beside this file only the cache on disk, held states and
`compiling/lanes.py` have to do with numba itself.
"""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core.datamodel.models import StructModel, UniTupleModel
from numba.extending import lower_builtin, overload, type_callable

from giro.compiling.cache import compile_once, keep_on_disk
from giro.compiling.compilers import InlinedCompiler, InnerCompiler, OuterCompiler
from giro.errors import BadParameter

Function = TypeVar("Function", bound=Callable[..., Any])
Value = TypeVar("Value")

# options of what Python never calls
CALLED_BY_KERNELS = {"no_cpython_wrapper": True, "pipeline_class": InnerCompiler}
INTO_KERNELS = {"no_cpython_wrapper": True, "pipeline_class": InlinedCompiler}


def kernel(function: Function) -> Function:
    """Compile `function` when it is first called.

    Its Python body stays in `py_func`. Kernels release the interpreter lock, so runs go on in
    parallel threads. Kernels of giro are kept on disk; a kernel of yours is compiled again in every
    process, because nothing tells when its source has changed.
    """
    return _compiled(function, into_callers=False)


def inline_kernel(function: Function) -> Function:
    """Compile `function` into its callers, which saves handing over its arguments.

    For short functions inside hot loops: a call with a state of ten arrays costs 50 ns.
    """
    return _compiled(function, into_callers=True)


def _compiled(function: Function, *, into_callers: bool) -> Function:
    options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    compiled = numba.njit(**options, pipeline_class=OuterCompiler)(function)
    if is_kernel(compiled):  # not where numba is switched off
        inner_options = INTO_KERNELS if into_callers else CALLED_BY_KERNELS
        inner = numba.njit(**options, **inner_options)(function)
        _let_kernels_call(compiled, inner)
        keep_on_disk(compiled, function)
        keep_on_disk(inner, function, "inner")
        compile_once(compiled)
    return cast(Function, compiled)


def _let_kernels_call(compiled: Any, inner: Any) -> None:
    """Give other kernels a form that Python cannot call, which compiles much faster."""

    def template(arguments: Any, keywords: Any) -> Any:
        """Take a constant as any number: a kernel is not compiled again for each of them."""
        unnamed = tuple(map(numba.types.unliteral, arguments))
        named = {name: numba.types.unliteral(kind) for name, kind in keywords.items()}
        return inner.get_call_template(unnamed, named)

    compiled.get_call_template = template
    compiled.get_overload = inner.get_overload
    compiled._compiling_counter = inner._compiling_counter  # by it numba notices recursion


def is_kernel(function: object) -> bool:
    """Return whether `function` is compiled when called."""
    return hasattr(function, "py_func")


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the Python body of a kernel, or the function itself if it is none.

    >>> plain(len) is len
    True
    """
    return cast(Callable[..., Any], getattr(function, "py_func", function))


_implementations: dict[Callable[..., Any], dict[type, Callable[..., Any]]] = {}


def dispatched(function: Function) -> Function:
    """Make a name generic: calls go to the implementation for the class of the first argument.

    Works inside kernels and in plain Python, for named tuples and for arrays. The body of
    `function` is never run; implementations are added with `bind`. They are compiled into their
    callers, as a call would hand over the whole state.
    """
    return _generic(function, into_callers=True)


def dispatched_call(function: Function) -> Function:
    """Make a name generic, as `dispatched`, for implementations that are long: they are called.

    What is compiled into its callers is compiled again with each of them.
    """
    return _generic(function, into_callers=False)


def _generic(function: Function, *, into_callers: bool) -> Function:

    @functools.wraps(function)
    def generic(state: Any, *rest: Any) -> Any:
        return implementation(generic, type(state))(state, *rest)

    options = INTO_KERNELS if into_callers else CALLED_BY_KERNELS

    @overload(generic, strict=False, jit_options=options)  # type: ignore[untyped-decorator]  # numba is untyped
    def typed(state: Any, *rest: Any) -> Callable[..., Any]:
        return plain(implementation(generic, getattr(state, "instance_class", np.ndarray)))

    _implementations[generic] = {}
    return cast(Function, generic)


def inlined(function: Function) -> Function:
    """Have kernels compile `function` into themselves, while Python runs it as Python.

    For helpers that take a state which may hold Python objects, which no kernel does.
    """

    @functools.wraps(function)
    def helper(*arguments: Any) -> Any:
        return function(*arguments)

    @overload(helper, strict=False, jit_options=INTO_KERNELS)  # type: ignore[untyped-decorator]  # numba is untyped
    def typed(*arguments: Any) -> Callable[..., Any]:
        return function

    return cast(Function, helper)


def bind(generic: Callable[..., Any], state: type, implementation: Callable[..., Any]) -> None:
    """Register the implementation of a dispatched name for states of this class."""
    _tell_apart(state)
    if _implementations[generic].setdefault(state, implementation) is not implementation:
        raise BadParameter(
            f"{state.__module__}.{state.__qualname__} already has its own '{generic.__name__}': "
            "give each policy and problem a state class of its own"
        )


_named: dict[str, type] = {}


def _tell_apart(state: type) -> None:
    """Give a state class a name that no other has.

    When called, numba knows a named tuple by the names of its class and fields only: of two
    policies with a `_State` of pulls and totals, the second would play as the first.
    """
    if not hasattr(state, "_fields"):
        return
    name = f"{state.__module__}.{state.__qualname__}"
    while _named.setdefault(name, state) is not state:  # defined twice, as in a notebook
        name += "'"
    if state.__name__ != name:
        state.__name__ = name


_twins: dict[type[Any], type[Any]] = {}


def in_python(state: type[Any]) -> type[Any]:
    """Return a twin of a state class, for states that hold Python objects.

    The class decides whether a kernel or its Python body is called, hence there are two.
    """
    if state not in _twins:
        body = {"__slots__": (), "__module__": __name__, "is_in_python": True}
        _twins[state] = type(f"{state.__name__}InPython", (state,), body)
    return _twins[state]


def implementation(generic: Callable[..., Any], state: type) -> Callable[..., Any]:
    """Return the implementation of a dispatched name for states of this class, or for its twin."""
    bound = _implementations[generic]
    for each in state.__mro__:
        if each in bound:
            return bound[each]
    raise BadParameter(f"'{generic.__name__}' is not bound for states of {state.__qualname__}")


# -- references --------------------------------------------------------------------------------


def borrowed(value: Value) -> Value:
    """Return a view of a tuple of arrays or of a generator that does not count its references.

    Counting costs two atomic operations per array and call, more than a kernel's work if there are
    ten arrays. Inside a kernel that holds `value` itself, and thus keeps it alive, its view can be
    passed around for free. In plain Python it is `value`.
    """
    return value


@type_callable(borrowed)  # type: ignore[untyped-decorator]  # numba is untyped
def _type_of_view(context: Any) -> Callable[[Any], Any]:
    def typed(value: Any) -> Any:
        return value

    return typed


@lower_builtin(borrowed, numba.types.Any)  # type: ignore[untyped-decorator]  # numba is untyped
def _without_references(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return _forget_references(context, builder, signature.args[0], arguments[0])


def _forget_references(context: Any, builder: Any, kind: Any, content: Any) -> Any:
    """Return the LLVM value with every pointer to a reference count set to null."""
    model = context.data_model_manager[kind]
    if model.has_nrt_meminfo():
        return content.type(None)
    if isinstance(model, StructModel | UniTupleModel):  # the latter if all fields are of one type
        members = getattr(model, "_members", None) or [kind.dtype] * kind.count
        for i, member in enumerate(members):
            inner = _forget_references(context, builder, member, builder.extract_value(content, i))
            content = builder.insert_value(content, inner, i)
    return content
