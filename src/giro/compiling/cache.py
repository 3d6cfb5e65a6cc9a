"""Compiled kernels on disk.

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
from typing import Any, ClassVar

import numba
from numba.core import caching

_PACKAGE = Path(__file__).parents[1]
_MONTH = 30 * 24 * 3600.0


@functools.cache
def package_digest() -> str:
    """Return a digest of numba's version and of all source files."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(_PACKAGE.glob("**/*.py")):
        digest.update(str(path.relative_to(_PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def keep_on_disk(compiled: Any, function: Callable[..., Any], form: str = "") -> None:
    """Let a compiled function of giro be kept; nothing tells when foreign source has changed.

    `form` tells apart what is compiled from the same function in more than one way.
    """
    if function.__module__.split(".")[0] == "giro":
        compiled._cache = _LaterCache(function, form)


@functools.cache
def _folder() -> Path | None:
    """Return the folder of this version's compiled kernels, or None if none can be written."""
    for root in _cache_roots():
        folder = root / package_digest()
        try:
            if not folder.exists():
                folder.mkdir(parents=True)
                _forget_old(root)
            mine = not hasattr(os, "getuid") or root.stat().st_uid == os.getuid()
            if mine and os.access(folder, os.W_OK):  # nobody else put code there: /tmp is shared
                os.utime(folder)
                return folder
        except OSError:
            continue
    return None


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
        self._py_file = function.__code__.co_filename  # named where something cannot be kept

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

    def __init__(self, function: Callable[..., Any], form: str) -> None:
        super().__init__(function)
        name = self._impl.filename_base + form
        self._cache_file = _Files(self._cache_path, name, self._impl.locator.get_source_stamp())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        return None if _is_foreign(sig) else super().load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        if not _is_foreign(sig):
            super().save_overload(sig, data)


class _LaterCache(caching.NullCache):  # type: ignore[misc]  # numba is untyped
    """The cache of one function, made when that is called, as most never are."""

    def __init__(self, function: Callable[..., Any], form: str) -> None:
        self._function = function
        self._form = form

    @functools.cached_property
    def _made(self) -> Any:
        return _Cache(self._function, self._form) if _folder() else caching.NullCache()

    @property
    def cache_path(self) -> Any:
        return self._made.cache_path

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        return self._made.load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        self._made.save_overload(sig, data)


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
