"""Compiled functions: the only file that imports numba.

A *kernel* is a plain Python function that also compiles. A *dispatched* function is a name shared
by many kernels, picked by the type of its first argument, the state. Because nothing is passed as
a function, the loops built from them can be cached on disk.

numba's own cache does not notice a change in a kernel called from another file. So ours lives in a
folder named after a digest of the whole package, and never keeps what involves foreign classes.
"""

import functools
import hashlib
import os
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

import numba
import numpy as np
from numba.core import caching
from numba.core.datamodel.models import StructModel, UniTupleModel
from numba.experimental import structref
from numba.extending import intrinsic, overload

from giro.errors import BadParameter

Function = TypeVar("Function", bound=Callable[..., Any])

_PACKAGE = Path(__file__).parent
_MONTH = 30 * 24 * 3600.0


def kernel(function: Function) -> Function:
    """Compile `function` when it is first called; its Python body stays in `py_func`.

    Kernels release the interpreter lock, so runs go on in parallel threads. Kernels of giro are
    kept on disk; a kernel of yours is compiled again in every process, because nothing tells
    when its source has changed.
    """
    return _compiled(function, into_callers=False)


def inline_kernel(function: Function) -> Function:
    """Compile `function` into its callers, which saves handing over what it is given.

    For short functions inside hot loops: a call with a state of ten arrays costs 50 ns.
    """
    return _compiled(function, into_callers=True)


def _compiled(function: Function, *, into_callers: bool) -> Function:
    compiled = numba.njit(
        nogil=True, error_model="numpy", no_cfunc_wrapper=True, forceinline=into_callers
    )(function)
    if is_kernel(compiled) and function.__module__.split(".")[0] == "giro" and _folder():
        compiled._cache = _Cache(function)
    return cast(Function, compiled)


def is_kernel(function: object) -> bool:
    """Tell whether `function` is compiled when called."""
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

    Works inside kernels and in plain Python. The body of `function` is never run; implementations
    are added with `bind`.
    """

    @functools.wraps(function)
    def generic(state: Any, *rest: Any) -> Any:
        return _implementation(generic, type(state))(state, *rest)

    options = {"forceinline": True}  # a call would hand over the whole state

    @overload(generic, strict=False, jit_options=options)  # type: ignore[untyped-decorator]  # numba is untyped
    def typed(state: Any, *rest: Any) -> Callable[..., Any]:
        return plain(_implementation(generic, state.instance_class))

    _implementations[generic] = {}
    return cast(Function, generic)


def bind(generic: Callable[..., Any], state: type, implementation: Callable[..., Any]) -> None:
    """Let `implementation` answer to a dispatched name for states of this class."""
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


def _implementation(generic: Callable[..., Any], state: type) -> Callable[..., Any]:
    if state not in _implementations[generic]:
        raise BadParameter(f"'{generic.__name__}' is not bound for states of {state.__qualname__}")
    return _implementations[generic][state]


# -- references --------------------------------------------------------------------------------


def borrowed(value: Function) -> Function:
    """Return a view of a tuple of arrays or of a generator that does not count its references.

    Counting costs two atomic operations per array and call, more than a kernel's work if there are
    ten arrays. Inside a kernel that holds `value` itself, and thus keeps it alive, its view can be
    passed around for free. In plain Python it is `value`.
    """
    return value


@overload(borrowed, strict=False)  # type: ignore[untyped-decorator]  # numba is untyped
def _borrowed(value: Any) -> Callable[..., Any]:
    def view(value: Any) -> Any:
        return _without_references(value)

    return view


@intrinsic  # type: ignore[untyped-decorator]  # numba is untyped
def _without_references(typing_context: Any, value: Any) -> tuple[Any, Callable[..., Any]]:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _forget_references(context, builder, value, arguments[0])

    return value(value), generate


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


# -- the cache on disk -----------------------------------------------------------------------


@functools.cache
def package_digest(patterns: tuple[str, ...] = ("**/*.py",)) -> str:
    """Return a digest of numba's version and the source files of these patterns, by default all."""
    digest = hashlib.sha256(numba.__version__.encode())
    files = {path for pattern in patterns for path in _PACKAGE.glob(pattern)}
    for path in sorted(files):
        digest.update(str(path.relative_to(_PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@functools.cache
def _folder() -> Path | None:
    """Return the folder of this version's compiled kernels, or None if none can be written."""
    for root in _cache_roots():
        folder = root / package_digest()
        try:
            if not folder.exists():
                folder.mkdir(parents=True)
                _forget_old(root)
            if _is_mine(root) and os.access(folder, os.W_OK):
                os.utime(folder)
                return folder
        except OSError:
            continue
    return None


def _is_mine(root: Path) -> bool:
    """Tell whether nobody else could have put code there (of interest in a shared /tmp)."""
    return not hasattr(os, "getuid") or root.stat().st_uid == os.getuid()


def _cache_roots() -> list[Path]:
    """Return where to keep compiled kernels, best first; GIRO_CACHE_DIR overrides."""
    if chosen := os.environ.get("GIRO_CACHE_DIR"):
        return [Path(chosen)]
    if sys.platform == "win32":
        home = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    elif sys.platform == "darwin":
        home = Path.home() / "Library" / "Caches"
    else:
        home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    user = hashlib.sha256(str(Path.home()).encode()).hexdigest()[:8]
    return [home / "giro", Path(tempfile.gettempdir()) / f"giro-{user}"]


def _forget_old(root: Path) -> None:
    """Delete the kernels of versions that were not started for a month."""
    for folder in root.iterdir():
        if folder.is_dir() and time.time() - folder.stat().st_mtime > _MONTH:
            shutil.rmtree(folder, ignore_errors=True)


class _Locator(caching._CacheLocator):  # type: ignore[misc]  # numba is untyped
    """Tells numba to keep everything in our folder, stamped with the package's digest."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def get_cache_path(self) -> str:
        return str(_folder())

    def get_source_stamp(self) -> str:
        return package_digest()

    def get_disambiguator(self) -> str:
        return self._function.__module__

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> "_Locator":
        return cls(py_func)


class _Files(caching.IndexDataCacheFile):  # type: ignore[misc]  # numba is untyped
    """numba's index and its files, each of which only one process ever writes.

    numba numbers them, so that of two processes which compile different loops at the same time
    one could later be given the other's code.
    """

    def _data_name(self, number: int) -> str:
        return f"{self._index_name.removesuffix('.nbi')}.{uuid.uuid4().hex}.nbc"


class _CacheFiles(caching.CompileResultCacheImpl):  # type: ignore[misc]  # numba is untyped
    _locator_classes: ClassVar[list[type]] = [_Locator]


class _Cache(caching.FunctionCache):  # type: ignore[misc]  # numba is untyped
    """numba's cache of one function, in our folder and without foreign classes."""

    _impl_class = _CacheFiles

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _Files(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        return None if _is_foreign(sig) else super().load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        if not _is_foreign(sig):
            super().save_overload(sig, data)


def _is_foreign(signature: Any) -> bool:
    """Tell whether a signature names a state class from outside the package."""
    arguments = getattr(signature, "args", signature)
    return any(_has_foreign_class(argument) for argument in arguments)


def _has_foreign_class(kind: Any) -> bool:
    if isinstance(kind, numba.types.StructRef):
        return any(_has_foreign_class(field) for field in kind.field_dict.values())
    if isinstance(kind, numba.types.BaseTuple):
        owner = getattr(kind, "instance_class", None)
        foreign = owner is not None and owner.__module__.split(".")[0] != "giro"
        return foreign or any(_has_foreign_class(inner) for inner in kind)
    return False


# -- held states -------------------------------------------------------------------------------


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


def hold(state: Any, choosing: np.random.Generator, learning: np.random.Generator) -> Held:
    """Return the state and its generators in a form that kernels take at little cost."""
    return cast(Held, _hold(state, choosing, learning))


@kernel
def _hold(state: Any, choosing: np.random.Generator, learning: np.random.Generator) -> Any:
    return Held(state, choosing, learning)
