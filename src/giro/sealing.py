"""Seals: checksums in exported files, so that damage is seal. Files without them are read, too."""

import hashlib
import io
import mmap
import re
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from giro.errors import BadFile

if TYPE_CHECKING:
    import polars as pl

_KEY, _MARK = b"giro.sha256", b"giro.sealed"  # one of them is left if a bit of the other flips
_EMPTY: Final = b"0" * 64  # in place of the digest while it is worked out
_DIGEST: Final = re.compile(rb".{1,8}?([0-9a-f]{64})", re.DOTALL)
_CHECK: Final = re.compile(rb',"check":"([0-9a-f]{8})"\}\r?$')
_CHECKED: Final = b',"check":"'


def sealed_parquet(frame: "pl.DataFrame") -> bytes:
    """Return a table as a Parquet file that holds a SHA-256 digest of all its other bytes."""
    content = io.BytesIO()
    metadata = {_KEY.decode(): _EMPTY.decode(), _MARK.decode(): "1"}
    frame.write_parquet(content, metadata=metadata)
    whole = content.getvalue()
    at = whole.index(_EMPTY, whole.rindex(_KEY))
    digest = hashlib.sha256(whole).hexdigest().encode()
    return whole[:at] + digest + whole[at + len(digest) :]


def check_parquet(path: Path) -> None:
    """Check the digest of a Parquet file, if it has one."""
    if path.stat().st_size == 0:
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        key = content.rfind(_KEY)
        if key < 0 and content.rfind(_MARK) < 0:
            return
        begin = key + len(_KEY)
        seal = _DIGEST.match(content[begin : begin + 80]) if key >= 0 else None
        if seal is not None:
            at = begin + seal.start(1)
            digest = hashlib.sha256(content[:at])
            digest.update(_EMPTY)
            digest.update(content[at + len(_EMPTY) :])
            if digest.hexdigest().encode() == seal[1]:
                return
    raise BadFile(f"{path} is damaged: its bytes are not those that were written")


def sealed_lines(frame: "pl.DataFrame") -> bytes:
    """Return a table as lines of JSON, each with a checksum of itself as its last value."""
    content = io.BytesIO()
    frame.write_ndjson(content)
    lines = content.getvalue().splitlines()
    return b"".join(b'%s%s%08x"}\n' % (line[:-1], _CHECKED, zlib.crc32(line)) for line in lines)


def checked_lines(path: Path) -> bytes:
    """Return the lines of a file without their checksums, which are checked if there are any."""
    content = path.read_bytes()
    if _CHECKED not in content:
        return content
    lines = []
    for number, line in enumerate(content.split(b"\n"), 1):
        seal = _CHECK.search(line)
        if seal is None and line.strip():
            raise BadFile(f"{path} is damaged: line {number} has no checksum, others have one")
        if seal is not None:
            lines.append(line[: seal.start()] + b"}")
            if zlib.crc32(lines[-1]) != int(seal[1], 16):
                raise BadFile(f"{path} is damaged: line {number} is not as it was written")
    return b"\n".join(lines)
