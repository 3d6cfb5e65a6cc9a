"""Where compiled kernels are kept: which folder, whether it can be written, and whom it belongs to.

A folder is found by what its content depends on: the source of giro, the versions of Python, NumPy
and numba, and the processor. Who filled it does not matter, so that an image can bring it along for
any user. But loading compiled code is running it. So a file is loaded only if it belongs to root or
to the user, or to the owner of a folder that GIRO_CACHE_DIR names and nobody else can write to.
"""

import contextlib
import functools
import hashlib
import json
import os
import shutil
import stat
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import llvmlite  # type: ignore[import-untyped]  # as numba, which pins it
import numba
import numpy as np
from numba.core.registry import cpu_target

_PACKAGE = Path(__file__).parents[1]
# rooms that no kernel lives in or can see
WITHOUT_KERNELS = ("bandit", "cli", "client", "plots", "service")
_MONTH = 30 * 24 * 3600.0
_ABOUT = "about.json"  # in each folder: for which processor it is
_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class Place(NamedTuple):
    """A folder of compiled kernels."""

    folder: Path | None  # None if there is none that can be used
    owners: frozenset[int]  # whose files are loaded; empty where a system does not know users
    writable: bool
    trouble: str  # why nothing can be loaded, or nothing be kept
    others: str  # processors that kernels of this version are there for, if not for this one


class Processor(NamedTuple):
    """The processor for which machine code is made."""

    name: str
    features: str


@functools.cache
def place() -> Place:
    """Return the folder of this version's kernels.

    GIRO_CACHE_DIR says where to look.
    """
    chosen = os.environ.get("GIRO_CACHE_DIR")
    roots = [Path(chosen)] if chosen else _usual_roots()
    places = [_place_in(root.absolute(), chosen=bool(chosen)) for root in roots]
    usable = [each for each in places if each.folder] or places[:1]
    best = next((each for each in usable if each.writable), usable[0])
    if best.folder is None:
        best = best._replace(trouble="; ".join(each.trouble for each in places))
    return best


def _usual_roots() -> list[Path]:
    """Return where programs of this user keep such things, best first."""
    if sys.platform == "win32":
        home = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    elif sys.platform == "darwin":
        home = Path.home() / "Library" / "Caches"
    else:
        home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    user = hashlib.sha256(str(Path.home()).encode()).hexdigest()[:8]
    return [home / "giro", Path(tempfile.gettempdir()) / f"giro-{user}"]


def _place_in(root: Path, *, chosen: bool) -> Place:
    cpu = processor()
    folder = root / f"{package_digest()}-{hashlib.sha256(repr(cpu).encode()).hexdigest()[:8]}"
    others = "" if folder.exists() or not chosen else ", ".join(_others(folder))
    try:
        _make(folder, cpu)
        owners = _owners(root, chosen=chosen)
        doubt = distrust(folder, owners)
    except OSError as error:
        owners, doubt = frozenset(), f"{root} cannot be used ({error.strerror or error})"
    if doubt:
        return Place(None, owners, writable=False, trouble=doubt, others=others)
    if os.access(folder, os.W_OK):
        os.utime(folder)
        return Place(folder, owners, writable=True, trouble="", others=others)
    return Place(folder, owners, writable=False, trouble=f"{folder} is read-only", others="")


def _make(folder: Path, cpu: Processor) -> None:
    """Make a folder if there is none, and delete those that were not used for a month."""
    if folder.exists():
        return
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    about = {**cpu._asdict(), "python": sys.version.split()[0], "numba": numba.__version__}
    (folder / _ABOUT).write_text(json.dumps(about), encoding="utf-8")
    for path in folder.parent.glob(f"*/{_ABOUT}"):  # nothing else that somebody keeps there
        with contextlib.suppress(OSError):
            if time.time() - path.parent.stat().st_mtime > _MONTH:
                shutil.rmtree(path.parent, ignore_errors=True)


# -- trust -------------------------------------------------------------------------------------


def _owners(root: Path, *, chosen: bool) -> frozenset[int]:
    """Return the users whose code is run.

    Where everybody may make folders, as in /tmp, somebody may have made the one that was chosen.
    """
    if not hasattr(os, "getuid"):
        return frozenset()
    owners, about = set(_mine()), root.stat()
    if chosen and not about.st_mode & _BY_OTHERS and not _is_in_the_open(root):
        owners.add(about.st_uid)
    return frozenset(owners)


def _mine() -> tuple[int, ...]:
    """Return root and the user."""
    return 0, os.getuid()


def _is_in_the_open(root: Path) -> bool:
    """Return whether everybody may make folders beside this one, or beside one above it."""
    return any(folder.stat().st_mode & stat.S_IWOTH for folder in root.resolve().parents)


def distrust(path: Path, owners: frozenset[int]) -> str:
    """Return why code at this path must not be run, or an empty text if it may."""
    if not owners:
        return ""
    about = path.lstat()
    if about.st_uid not in owners:
        return f"{path} belongs to another user"
    if about.st_mode & (stat.S_IWOTH if about.st_uid in _mine() else _BY_OTHERS):
        return f"{path} can be written by others"
    return ""


# -- contents ----------------------------------------------------------------------------------


@functools.cache
def package_digest() -> str:
    """Return a digest of all source files with kernels, and of the versions that compile them."""
    versions = (numba.__version__, llvmlite.__version__, np.__version__)
    digest = hashlib.sha256(repr((*versions, sys.implementation.cache_tag)).encode())
    for path in sorted(_PACKAGE.glob("**/*.py")):
        place_in_package = path.relative_to(_PACKAGE)
        if place_in_package.parts[0] not in WITHOUT_KERNELS:
            digest.update(str(place_in_package).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def processor() -> Processor:
    """Return the processor that kernels are compiled for: this one, or the one set for numba."""
    _, name, features = cpu_target.target_context.codegen().magic_tuple()
    return Processor(str(name), str(features))


def _others(folder: Path) -> list[str]:
    """Return the other processors for which kernels of this version are kept."""
    names = set()
    for path in folder.parent.glob(f"{package_digest()}-*/{_ABOUT}"):
        with contextlib.suppress(OSError, ValueError, KeyError):
            names.add(str(json.loads(path.read_text(encoding="utf-8"))["name"]))
    return sorted(names)
