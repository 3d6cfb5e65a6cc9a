"""Rows to be classified, scaled and ready to play; kept, because all runs share them."""

import functools
import hashlib
import threading
from pathlib import Path
from typing import NamedTuple

import numpy as np

from giro.datasets.dataset import Dataset
from giro.datasets.files import read_dataset
from giro.datasets.scaling import Scale, contexts_of
from giro.datasets.shipped import load

_KEPT = 2  # sets of rows of each kind: Covertype takes 255 MB
_one_at_a_time = threading.Lock()  # threads that start together are to make rows once


class Rows(NamedTuple):
    """What the runs of a classification problem share; nothing of it can be written to."""

    contexts: np.ndarray  # [row, feature] scaled
    labels: np.ndarray  # [row] the arm with reward 1
    classes: tuple[object, ...]  # [arm] what the arms are called


def rows_of(dataset: Dataset, scale: Scale) -> Rows:
    """Return the rows of a data set on this scale."""
    return Rows(contexts_of(dataset.features, scale), dataset.labels, dataset.classes)


def shipped_rows(name: str, scale: Scale) -> Rows:
    """Return the rows of one of the paper's data sets."""
    with _one_at_a_time:
        return _shipped_rows(name, scale)


def file_rows(path: Path, label: str, scale: Scale) -> Rows:
    """Return the rows of a user's file as it is now."""
    status = path.stat() if path.is_file() else None
    stamp = (status.st_mtime_ns, status.st_size) if status else None
    with _one_at_a_time:
        return _file_rows(path, label, scale, stamp)


@functools.lru_cache(_KEPT)
def _shipped_rows(name: str, scale: Scale) -> Rows:
    return rows_of(load(name), scale)


@functools.lru_cache(_KEPT)
def _file_rows(path: Path, label: str, scale: Scale, stamp: tuple[int, int] | None) -> Rows:
    return rows_of(read_dataset(path, label=label), scale)


def digest_of(rows: Rows) -> str:
    """Return a short text that differs for other rows."""
    digest = hashlib.sha256(repr((rows.contexts.shape, rows.classes)).encode())
    digest.update(rows.contexts.data)
    digest.update(rows.labels.data)
    return digest.hexdigest()[:16]
