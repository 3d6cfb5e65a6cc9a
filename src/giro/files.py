"""Files that are written whole or not at all, and arrays in a zip without pickle."""

import contextlib
import io
import os
import threading
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from giro.errors import BadFile


def write_whole(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Replace a file such that a crash or a power cut leaves either the old file or the new one."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError as error:
        raise BadFile(f"{path} cannot be written: {error}") from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a power cut too, on systems that can open folders."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def pack_arrays(parts: zipfile.ZipFile, arrays: Mapping[str, np.ndarray]) -> None:
    """Write each array as NAME.npy."""
    for name, values in arrays.items():
        with parts.open(f"{name}.npy", "w", force_zip64=True) as part:
            np.lib.format.write_array(part, np.ascontiguousarray(values), allow_pickle=False)


def unpack_arrays(parts: zipfile.ZipFile) -> dict[str, np.ndarray]:
    """Return the arrays that `pack_arrays` wrote."""
    return {
        name.removesuffix(".npy"): np.lib.format.read_array(
            io.BytesIO(parts.read(name)), allow_pickle=False
        )
        for name in parts.namelist()
        if name.endswith(".npy")
    }
