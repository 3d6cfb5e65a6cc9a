"""Snapshots as bytes, without pickle."""

import io
import json
import zipfile
from typing import NamedTuple

from giro.bandit.stores.store import Snapshot
from giro.files import pack_arrays, unpack_arrays


class PackedSnapshot(NamedTuple):
    """A snapshot that takes as few bytes as can be."""

    position: int
    about: str
    arrays: bytes

    @classmethod
    def of(cls, snapshot: Snapshot) -> "PackedSnapshot":
        """Pack a snapshot."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as parts:
            pack_arrays(parts, snapshot.arrays)
        return cls(snapshot.position, json.dumps(snapshot.about), buffer.getvalue())

    def unpacked(self) -> Snapshot:
        """Return the snapshot.

        Raises a `ValueError`, `KeyError` or `zipfile.BadZipFile` if it is damaged.
        """
        with zipfile.ZipFile(io.BytesIO(self.arrays)) as parts:
            return Snapshot(self.position, json.loads(self.about), unpack_arrays(parts))
