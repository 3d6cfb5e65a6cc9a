"""A bandit's file: two lines that say what follows and check it, then a zip of columns.

Beside the log, in columns, the file holds a snapshot of the policy's state. Whoever reads it takes
the snapshot if the code at hand would have made the same, and else learns the log again.
"""

import hashlib
import io
import json
import zipfile
from array import array
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from giro.bandit.core import Core
from giro.bandit.log import ArmEvent, Log, column
from giro.errors import BadFile
from giro.files import write_whole

if TYPE_CHECKING:
    import polars as pl

_MAGIC = b"giro-bandit"
_FORMAT = 2
_DECISIONS = ("decided", "chosen", "among", "seen", "reward_of")
_REWARDS = ("rewarded", "value", "came", "expired")


class Packed(NamedTuple):
    """A bandit at one moment, as plain data and copied arrays."""

    header: dict[str, Any]
    decisions: dict[str, np.ndarray]
    rewards: dict[str, np.ndarray]
    arrays: dict[str, np.ndarray]  # contexts, features and propensities of decisions; the state


def packed(core: Core) -> Packed:
    """Return copies of all that a file holds."""
    log = core.log
    snapshot = None if core.live is None else core.live.snapshot()
    about, state = (None, {}) if snapshot is None else snapshot
    own = {str(decision): id for decision, id in log.own_ids.items()}
    header = core.header() | {
        "arms": list(log.arms),
        "arm_events": [list(event) for event in log.arm_events],
        "sets": [arms.tolist() for arms in log.sets],
        "own_ids": own,
        "first_fraction": log.first_fraction,
        "snapshot": about,
    }
    decisions = {name: column(getattr(log, name)) for name in _DECISIONS}
    rewards = {name: column(getattr(log, name)) for name in _REWARDS}
    arrays = {f"state/{path}": array for path, array in state.items()}
    arrays["contexts"] = log.contexts[: log.n_decisions].copy()
    if log.features:
        arrays["features"] = np.concatenate(log.features)
    if log.propensities:
        arrays["known"] = np.array(list(log.propensities), np.int64)
        arrays["propensities"] = np.concatenate(list(log.propensities.values()))
    return Packed(header, decisions, rewards, arrays)


def write(path: Path, content: Packed) -> None:
    """Write a bandit; a crash at any time leaves the old file or the new one.

    The first line names the kind of file and the version of its format, the second is the SHA-256
    digest of all that follows.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as parts:
        parts.writestr("header.json", json.dumps(content.header, ensure_ascii=False))
        parts.writestr("decisions.parquet", _parquet(content.decisions))
        parts.writestr("rewards.parquet", _parquet(content.rewards))
        for name, values in content.arrays.items():
            with parts.open(f"{name}.npy", "w", force_zip64=True) as part:
                np.lib.format.write_array(part, np.ascontiguousarray(values), allow_pickle=False)
    body = buffer.getbuffer()
    digest = hashlib.sha256(body).hexdigest().encode()
    write_whole(path, (b"%s %d\n%s\n" % (_MAGIC, _FORMAT, digest), body))


def _parquet(columns: dict[str, np.ndarray]) -> bytes:
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer, compression="zstd", compression_level=1)
    return buffer.getvalue()


def read(path: Path) -> "Packed | pl.DataFrame":
    """Return what a file holds; the events alone, as a table, if giro 0.1.0 has written it."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise BadFile(f"there is no file {path}") from None
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error}") from error
    first = content.find(b"\n") + 1
    second = content.find(b"\n", first) + 1
    magic, _, version = content[: max(first - 1, 0)].partition(b" ")
    if magic != _MAGIC or not version.isdigit() or int(version) < 1:
        raise BadFile(f"{path} is not a bandit saved by giro")
    if int(version) > _FORMAT:
        raise BadFile(
            f"{path} was saved by a newer giro, in format {int(version)}; "
            f"this one reads formats up to {_FORMAT}"
        )
    body = memoryview(content)[second:]
    if hashlib.sha256(body).hexdigest().encode() != content[first : second - 1]:
        raise BadFile(f"{path} is damaged: it was cut short or altered after it was saved")
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    try:
        return pl.read_parquet(io.BytesIO(body)) if int(version) == 1 else _unpacked(body)
    except (pl.exceptions.PolarsError, zipfile.BadZipFile, ValueError, KeyError) as error:
        raise BadFile(f"{path} is damaged: {error}") from error


def _unpacked(body: memoryview) -> Packed:
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    with zipfile.ZipFile(io.BytesIO(body)) as parts:
        header = json.loads(parts.read("header.json"))
        files = (parts.read(f"{name}.parquet") for name in ("decisions", "rewards"))
        tables = (pl.read_parquet(content).get_columns() for content in files)
        decisions, rewards = (
            {values.name: values.to_numpy(writable=True) for values in t} for t in tables
        )
        arrays = {
            name.removesuffix(".npy"): np.lib.format.read_array(
                io.BytesIO(parts.read(name)), allow_pickle=False
            )
            for name in parts.namelist()
            if name.endswith(".npy")
        }
    return Packed(header, decisions, rewards, arrays)


def log_of(content: Packed) -> Log:
    """Return the log in a file."""
    header, log = content.header, Log(content.header["prefix"])
    for kind, arm, time, decisions, rewards in header["arm_events"]:
        event = ArmEvent(kind, arm, time, decisions, rewards)
        log.note_arm(header["arms"][arm], event)
    for arms in header["sets"]:
        log.set_number(np.array(arms, np.int64))
    for names, columns in ((_DECISIONS, content.decisions), (_REWARDS, content.rewards)):
        for name in names:
            values: array[Any] = getattr(log, name)
            values.frombytes(np.ascontiguousarray(columns[name]).tobytes())
    log.contexts = content.arrays["contexts"]
    sizes = np.array([arms.size for arms in log.sets], np.int64)
    if "features" in content.arrays:
        ends = np.cumsum(sizes[content.decisions["among"]])
        log.features = np.split(content.arrays["features"], ends[:-1])
    if "known" in content.arrays:
        known = content.arrays["known"]
        ends = np.cumsum(sizes[content.decisions["among"][known]])
        propensities = np.split(content.arrays["propensities"], ends[:-1])
        log.propensities = dict(zip(known.tolist(), propensities, strict=True))
    for decision, id in header["own_ids"].items():
        log.name(int(decision), id)
    log.first_fraction, log.made_elsewhere = header["first_fraction"], header["made_elsewhere"]
    return log


def state_of(content: Packed) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
    """Return the snapshot in a file, if it has one."""
    about = content.header["snapshot"]
    if about is None:
        return None
    prefix = "state/"
    found = {n.removeprefix(prefix): a for n, a in content.arrays.items() if n.startswith(prefix)}
    return about, found
