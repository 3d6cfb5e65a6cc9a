"""Snapshots as bytes."""

import io
import json
import zipfile

import numpy as np

from giro.bandit.stores.store import Snapshot
from giro.files import pack_arrays, unpack_arrays


def packed_arrays(arrays: dict[str, np.ndarray]) -> bytes:
    """Return arrays as bytes, without pickle."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as parts:
        pack_arrays(parts, arrays)
    return buffer.getvalue()


def snapshot_of(position: int, about: str, arrays: bytes) -> Snapshot | None:
    """Return a snapshot, None if it is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(arrays)) as parts:
            return Snapshot(position, json.loads(about), unpack_arrays(parts))
    except (ValueError, KeyError, zipfile.BadZipFile):
        return None
