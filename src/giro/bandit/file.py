"""A bandit's file: two lines that describe and check the rest, then a zip of columns.

Beside the log, in columns, the file holds a snapshot of the state. Whoever reads it takes the
snapshot if the code at hand would have made the same, and else learns the log again.
"""

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from giro.bandit.event import EventRow, event_of, row_of
from giro.bandit.stores._columns import column, filled
from giro.bandit.stores.memory import MemoryStore
from giro.bandit.stores.store import Snapshot
from giro.errors import BadFile
from giro.files import pack_arrays, unpack_arrays, write_whole
from giro.offer import AnyRows, SparseRows

_MAGIC = b"giro-bandit"
_FORMAT = 5
_EVENTS = ("kind", "index")
_DECISIONS = ("decided", "arm", "among", "own", "seen", "reward_of")
_REWARDS = ("rewarded", "value", "came", "expired")
_RAGGED = ("known", "propensities", "context_at", "contexts", "codes")


class Packed(NamedTuple):
    """A bandit at one moment, as plain data and copied arrays."""

    header: dict[str, Any]
    events: dict[str, Any]
    decisions: dict[str, Any]
    rewards: dict[str, Any]
    arrays: dict[str, np.ndarray]  # of decisions, and of the snapshot


def packed(store: MemoryStore, snapshot: Snapshot | None) -> Packed:
    """Return copies of all that a file holds."""
    others = [row_of(event) for event in store.others]
    base = store.base()
    header = {
        "others": [[*row[:4], None if row.data is None else row.data.decode()] for row in others],
        "sets": [arms.tolist() for arms in store.sets],
        "requests": {str(number): request.hex() for number, request in store.requests.items()},
        "snapshot": None if snapshot is None else [snapshot.position, snapshot.about],
        "base": None if base is None else [base.position, base.about],
    }
    events = {name: column(getattr(store, name)) for name in _EVENTS}
    decisions = {name: column(getattr(store, name)) for name in _DECISIONS}
    rewards = {name: column(getattr(store, name)) for name in _REWARDS}
    arrays = {"old": column(store.old)}
    for kind, kept in (("snapshot", snapshot), ("base", base)):
        if kept is not None:
            arrays |= {f"{kind}/{name}": values for name, values in kept.arrays.items()}
    for name in _RAGGED:
        arrays[name] = column(getattr(store, name))
    if store.features:
        arrays |= _packed_features(store.features)
    texts = {"id": list(store.ids)}
    if store.names:
        texts["names"] = [json.dumps(names, ensure_ascii=False) for names in store.names]
    return Packed(header, events, decisions | texts, rewards, arrays)


def _packed_features(features: list[AnyRows]) -> dict[str, np.ndarray]:
    """Return the features of all decisions one after the other, with how many each arm has."""
    if isinstance(features[0], np.ndarray):
        return {
            "features": np.concatenate([rows.ravel() for rows in features]),
            "feature_widths": np.array([rows.shape[1] for rows in features]),
        }
    return {
        "features": np.concatenate([rows.value for rows in features]),
        "feature_codes": np.concatenate([rows.column for rows in features]),
        "feature_widths": np.concatenate([np.diff(rows.begin) for rows in features]),
    }


def _unpacked_features(arrays: dict[str, np.ndarray], sizes: np.ndarray) -> list[AnyRows]:
    """Return the features of each decision, which had so many arms."""
    values, widths = arrays["features"], arrays["feature_widths"]
    if "feature_codes" not in arrays:
        rows = np.split(values, np.cumsum(sizes * widths)[:-1])
        return [row.reshape(-1, width) for row, width in zip(rows, widths, strict=True)]
    features: list[AnyRows] = []
    begin = 0
    for own in np.split(widths, np.cumsum(sizes)[:-1]):
        ends = np.concatenate([[0], np.cumsum(own)])
        part = slice(begin, begin + int(ends[-1]))
        features.append(SparseRows(ends, arrays["feature_codes"][part], values[part]))
        begin = part.stop
    return features


def write_bandit(path: Path, content: Packed) -> None:
    """Write a bandit.

    A crash at any time leaves the old file or the new one. The first line names the kind of file
    and the version of its format, the second is the SHA-256 digest of all that follows.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as parts:
        parts.writestr("header.json", json.dumps(content.header))
        parts.writestr("events.parquet", _parquet(content.events))
        parts.writestr("decisions.parquet", _parquet(content.decisions))
        parts.writestr("rewards.parquet", _parquet(content.rewards))
        pack_arrays(parts, content.arrays)
    body = buffer.getbuffer()
    digest = hashlib.sha256(body).hexdigest().encode()
    write_whole(path, (b"%s %d\n%s\n" % (_MAGIC, _FORMAT, digest), body))


def _parquet(columns: dict[str, Any]) -> bytes:
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    buffer = io.BytesIO()
    schema = {"id": pl.String} if "id" in columns else None
    frame = pl.DataFrame(columns, schema_overrides=schema)
    frame.write_parquet(buffer, compression="zstd", compression_level=1)
    return buffer.getvalue()


def read_bandit(path: Path) -> Packed:
    """Return the content of a file."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise BadFile(f"there is no file {path}") from None
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror}") from error
    first = content.find(b"\n") + 1
    second = content.find(b"\n", first) + 1
    magic, _, version = content[: max(first - 1, 0)].partition(b" ")
    if magic != _MAGIC or not version.isdigit() or int(version) not in range(1, 1000):
        raise BadFile(f"{path} is not a bandit saved by giro")
    if int(version) != _FORMAT:
        raise BadFile(
            f"{path} was saved by another giro, in format {int(version)}; "
            f"this one reads format {_FORMAT}"
        )
    body = memoryview(content)[second:]
    if hashlib.sha256(body).hexdigest().encode() != content[first : second - 1]:
        raise BadFile(f"{path} is damaged: it was cut short or altered after it was saved")
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    try:
        return _unpacked(body)
    except (pl.exceptions.PolarsError, zipfile.BadZipFile, ValueError, KeyError) as error:
        raise BadFile(f"{path} is damaged: {error}") from error


def _unpacked(body: memoryview) -> Packed:
    with zipfile.ZipFile(io.BytesIO(body)) as parts:
        header = json.loads(parts.read("header.json"))
        names = ("events", "decisions", "rewards")
        events, decisions, rewards = (_columns(parts.read(f"{name}.parquet")) for name in names)
        return Packed(header, events, decisions, rewards, unpack_arrays(parts))


def _columns(content: bytes) -> dict[str, Any]:
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    columns = pl.read_parquet(content).get_columns()
    return {c.name: c.to_list() if c.dtype == pl.String else c.to_numpy() for c in columns}


def store_of(content: Packed) -> MemoryStore:
    """Return the log in a file."""
    store, header = MemoryStore(), content.header
    parts = (
        (_EVENTS, content.events),
        (_DECISIONS, content.decisions),
        (_REWARDS, content.rewards),
    )
    for names, columns in parts:
        for name in names:
            _fill(store, name, columns[name])
    for row in header["others"]:
        data = None if row[4] is None else row[4].encode()
        store.others.append(event_of(EventRow(row[0], row[1], row[2], row[3], data)))
    store.sets = [np.array(arms, np.int64) for arms in header["sets"]]
    store.ids = content.decisions["id"]
    arrays = content.arrays
    for name in _RAGGED:
        _fill(store, name, arrays[name])
    store.requests = {int(n): bytes.fromhex(r) for n, r in header["requests"].items()}
    store.names = [tuple(json.loads(names)) for names in content.decisions.get("names", ())]
    if "features" in arrays:
        sizes = np.array([arms.size for arms in store.sets], np.int64)[content.decisions["among"]]
        store.features = _unpacked_features(arrays, sizes)
    store.index_again()
    base = snapshot_of(content, "base")
    if base is not None:
        store.begin_at(base, arrays["old"].tolist())
    return store


def _fill(store: MemoryStore, name: str, values: np.ndarray) -> None:
    setattr(store, name, filled(getattr(store, name).typecode, values))


def snapshot_of(content: Packed, kind: str = "snapshot") -> Snapshot | None:
    """Return the snapshot in a file, or the base of its log, if it has one."""
    about = content.header.get(kind)
    if about is None:
        return None
    prefix = f"{kind}/"
    arrays = {n.removeprefix(prefix): a for n, a in content.arrays.items() if n.startswith(prefix)}
    return Snapshot(int(about[0]), about[1], arrays)
