"""Compiled kernels on disk.

numba's own cache does not notice a change in a kernel called from another file. So ours lives in a
folder named after a digest of the sources that have kernels (see `places`), and never keeps what
involves foreign classes. Of processes that need the same kernel at once, one compiles it, the
others wait.
"""

import contextlib
import functools
import hashlib
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numba
from numba.core import caching
from numba.core.registry import cpu_target

from giro.compiling.interrupts import interrupts_wait
from giro.compiling.locks import alone
from giro.compiling.places import WITHOUT_KERNELS, distrust, package_digest, place
from giro.progress import shown

_COMPILING = "giro compiles what is used for the first time"


def keep_on_disk(compiled: Any, function: Callable[..., Any], form: str = "") -> None:
    """Keep a compiled function on disk if it is giro's own, and its source is in the digest.

    Others are not kept, because nothing tells when foreign source has changed. `form` distinguishes
    several compiled forms of the same function.
    """
    package, *rooms = function.__module__.split(".")
    if package == "giro" and not set(rooms[:1]) & set(WITHOUT_KERNELS):
        compiled._cache = _LaterCache(function, form)


def compile_once(compiled: Any) -> None:
    """Have one process at a time compile a kernel that Python calls, and show that it does."""
    compile_now = compiled.compile

    def compile_alone(signature: Any) -> Any:
        with shown(_COMPILING), _alone(compiled._cache, signature), interrupts_wait():
            return compile_now(signature)

    compiled.compile = compile_alone


def _alone(cache: Any, signature: Any) -> contextlib.AbstractContextManager[object]:
    """Return a lock against others who compile the same, or none if it is compiled already."""
    lock = cache.lock_for(signature) if isinstance(cache, _LaterCache) else None
    return alone(lock) if lock else contextlib.nullcontext()


@functools.cache
def _warn_of(trouble: str) -> None:
    """Warn once of the reason why giro compiles kernels that it might have loaded."""
    warnings.warn(
        f"giro compiles what it might have loaded: {trouble}", RuntimeWarning, stacklevel=2
    )


def _explain() -> None:
    """Warn why a kernel has to be compiled, unless it is for the first time."""
    where = place()
    if where.others:
        _warn_of(
            f"kernels are kept for another processor ({where.others}); compile on a machine like "
            "this one, or set NUMBA_CPU_NAME and NUMBA_CPU_FEATURES to the same there and here"
        )
    elif where.trouble:
        _warn_of(where.trouble)


class _Locator(caching._CacheLocator):  # type: ignore[misc]  # numba is untyped
    """Tells numba to keep everything in our folder, stamped with the package's digest."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._py_file = function.__code__.co_filename  # named where something cannot be kept

    def get_cache_path(self) -> str:
        return str(place().folder)

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

    def _load_index(self) -> Any:
        return super()._load_index() if _is_trusted(self._index_path) else {}

    def _load_data(self, name: str) -> Any:
        if not _is_trusted(self._data_path(name)):
            raise PermissionError(name)  # which numba takes as a file that is gone
        return super()._load_data(name)


def _is_trusted(path: str) -> bool:
    """Return whether a file may be loaded.

    Warn if it is there and may not.
    """
    with contextlib.suppress(OSError):
        doubt = distrust(Path(path), place().owners)
        if doubt:
            _warn_of(doubt)
        return not doubt
    return False


class _CacheFiles(caching.CompileResultCacheImpl):  # type: ignore[misc]  # numba is untyped
    _locator_classes: ClassVar[list[type]] = [_Locator]


class _Cache(caching.FunctionCache):  # type: ignore[misc]  # numba is untyped
    """numba's cache of one function, in our folder and without foreign classes.

    Each signature has an index of its own. To read numba's single one, the modules of all state
    classes would be imported that any program has played, and of two processes that write it at
    once one would lose what it has compiled.
    """

    _impl_class = _CacheFiles

    def __init__(self, function: Callable[..., Any], form: str) -> None:
        super().__init__(function)
        self._form = form

    def _files_of(self, sig: Any) -> _Files:
        digest = hashlib.sha256(repr(sig).encode()).hexdigest()[:16]
        name = f"{self._impl.filename_base}{self._form}.{digest}"
        return _Files(self._cache_path, name, self._impl.locator.get_source_stamp())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        if _is_foreign(sig):
            return None
        self._cache_file = self._files_of(sig)  # numba compiles in one thread at a time
        return super().load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        if not _is_foreign(sig) and place().writable:
            self._cache_file = self._files_of(sig)
            super().save_overload(sig, data)

    def lock_for(self, sig: Any) -> Path | None:
        """Return the file to lock while this is compiled, or None if it is kept or cannot be."""
        if _is_foreign(sig):
            return None
        key, files = self._index_key(sig, cpu_target.target_context.codegen()), self._files_of(sig)
        if key in files._load_index():
            return None
        _explain()
        return Path(f"{files._index_path}.lock") if place().writable else None


class _LaterCache(caching.NullCache):  # type: ignore[misc]  # numba is untyped
    """The cache of one function, made at the function's first call, as most are never called."""

    def __init__(self, function: Callable[..., Any], form: str) -> None:
        self._function = function
        self._form = form

    @functools.cached_property
    def _made(self) -> Any:
        return _Cache(self._function, self._form) if place().folder else caching.NullCache()

    @property
    def cache_path(self) -> Any:
        return self._made.cache_path

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        return self._made.load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        self._made.save_overload(sig, data)

    def lock_for(self, sig: Any) -> Path | None:
        if isinstance(self._made, _Cache):
            return self._made.lock_for(sig)
        _explain()
        return None


def _is_foreign(signature: Any) -> bool:
    """Return whether a signature names a state class from outside the package."""
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
