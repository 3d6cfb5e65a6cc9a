"""Classification: a row of a data set is the context, and the arm of its class has reward 1."""

import functools
import hashlib
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from giro.compiling import kernel
from giro.datasets.dataset import (
    FORMATS,
    SHAPES,
    Dataset,
    Scale,
    contexts_of,
    dataset_from_arrays,
    frozen,
    is_file_name,
    load,
    read_dataset,
)
from giro.errors import BadParameter, UnknownName
from giro.named import check_word
from giro.offer import NO_FEATURES, Offer
from giro.problem import Means, Problem

_KEPT = 2  # sets of rows of each kind: Covertype takes 255 MB
_one_at_a_time = threading.Lock()  # threads that start together make the rows once


class LabelledRows(NamedTuple):
    """Read-only rows that all runs of a classification problem share."""

    contexts: np.ndarray  # [row, feature] scaled
    labels: np.ndarray  # [row] the arm with reward 1
    classes: tuple[object, ...]  # [arm] the label that the arm stands for


def labelled_rows(dataset: Dataset, scale: Scale) -> LabelledRows:
    """Return the rows of a data set on this scale."""
    return LabelledRows(contexts_of(dataset.features, scale), dataset.labels, dataset.classes)


def shipped_rows(name: str, scale: Scale) -> LabelledRows:
    """Return the rows of one of the paper's data sets."""
    with _one_at_a_time:
        return _shipped_rows(name, scale)


def file_rows(path: Path, label: str, scale: Scale) -> LabelledRows:
    """Return the rows of a user's file as it is now."""
    status = path.stat() if path.is_file() else None
    stamp = (status.st_mtime_ns, status.st_size) if status else None
    with _one_at_a_time:
        return _file_rows(path, label, scale, stamp)


@functools.lru_cache(_KEPT)
def _shipped_rows(name: str, scale: Scale) -> LabelledRows:
    return labelled_rows(load(name), scale)


@functools.lru_cache(_KEPT)
def _file_rows(path: Path, label: str, scale: Scale, stamp: tuple[int, int] | None) -> LabelledRows:
    return labelled_rows(read_dataset(path, label=label), scale)


def digest_of(rows: LabelledRows) -> str:
    """Return a short digest of the rows."""
    digest = hashlib.sha256(repr((rows.contexts.shape, rows.classes)).encode())
    digest.update(rows.contexts.data)
    digest.update(rows.labels.data)
    return digest.hexdigest()[:16]


_ARRAYS = "arrays-"  # followed by a digest: data that came from Python and have no name


class _Instance(NamedTuple):
    contexts: np.ndarray  # [row, feature] shared by all runs
    labels: np.ndarray  # [row] shared by all runs
    order: np.ndarray  # [i] rows; those visited in this pass come first
    means: np.ndarray  # [arm] of the present round
    arms: np.ndarray  # [arm] all of them
    features: np.ndarray  # of arms: none
    reach: int  # arms at this distance from the row's class, or farther, have reward 0


@kernel
def _reveal(instance: _Instance, t: int, rng: np.random.Generator) -> tuple[Offer, Means, float]:
    """Reveal a row that this pass through all rows has not visited yet.

    This is one step of Fisher and Yates' shuffle. A new pass starts from the order of the last.
    """
    order, means = instance.order, instance.means
    i = t % order.size
    j = i + int(rng.random() * (order.size - i))
    order[i], order[j] = order[j], order[i]
    row = order[i]
    label = instance.labels[row]
    for arm in range(means.size):
        means[arm] = max(0.0, 1.0 - abs(arm - label) / instance.reach)
    return Offer(instance.arms, instance.contexts[row], instance.features), means, 1.0


@kernel
def _reward(instance: _Instance, means: Means, arm: int, rng: np.random.Generator) -> float:
    return float(means[arm])


@dataclass(frozen=True)
class Classification(Problem, name="classification"):
    """Rows of a data set in random order, with reward 1 for the arm of the row's class, else 0.

    `data` is adult, covertype or statlog, or a Parquet or CSV file with its classes in column
    `label`. In a file, each word of a column of words becomes a feature. Every run visits all rows
    in its own order before any row comes again. `scale` is the scaling of the features: `column`
    gives each mean 0 and standard deviation 1 over the data set, `unit` also gives each row length
    one, `range` maps each to [0, 1], and `none` leaves them unchanged.

    With `graded=true` the classes are numbers, and guesses near the right one earn a part. With K
    classes in increasing order, arm k has reward 1 - |k - index of the row's class| / (K - 1).

    >>> problem = Classification("adult")
    >>> problem.n_arms, problem.n_features
    (14, 94)
    """

    source = "Kveton et al. 2019, Section 6.2; data as in Riquelme et al. 2018"
    reveal = staticmethod(_reveal)
    reward = staticmethod(_reward)

    data: str = "statlog"
    label: str | None = None
    scale: Scale = "column"
    graded: bool = field(default=False, kw_only=True)
    n_arms: int = field(init=False, repr=False, compare=False)
    n_features: int = field(init=False, repr=False, compare=False)  # type: ignore[misc]  # known with the data
    _own: LabelledRows | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        """Check the parameters and read a file. The paper's data are read when a run starts."""
        super().__post_init__()
        if not isinstance(self.data, str):
            raise BadParameter(
                f"classification takes the name of a data set or of a file, got a "
                f"{type(self.data).__name__}: Classification.from_arrays takes rows and labels"
            )
        if is_file_name(self.data):
            if self.label is None:
                raise BadParameter(
                    f"classification needs the column of classes in {self.data}: label=COLUMN"
                )
            for text in (self.data, self.label):
                check_word(text)
            self._take(file_rows(Path(self.data), self.label, self.scale))
        elif self.data.startswith(_ARRAYS):
            raise BadParameter(f"{self.data} came from Python: use Classification.from_arrays")
        elif self.data not in SHAPES:
            raise UnknownName(
                "data set", self.data, known=[*SHAPES, *(f"FILE{f}" for f in FORMATS)]
            )
        elif self.graded:
            raise BadParameter(f"the classes of {self.data} have no order: leave graded out")
        elif self.label is not None:
            raise BadParameter(
                f"{self.data} has its own classes, got label={self.label}: leave it out"
            )
        else:
            shape = SHAPES[self.data]
            self._set(n_arms=shape.classes, n_features=shape.features)

    @classmethod
    def from_arrays(cls, X: Any, y: Any, *, scale: Scale = "column", graded: bool = False) -> Self:  # noqa: N803  # as everywhere
        """Return the problem of guessing labels `y` from rows `X` of finite numbers.

        Labels can be of any kind that can be sorted. The arms are the classes in sorted order,
        `problem.classes`. The text of such a problem names the data by a digest: it tells results
        apart but cannot be parsed.

        >>> problem = Classification.from_arrays([[0.1], [0.7], [0.9]], ["no", "yes", "yes"])
        >>> problem.n_arms, problem.n_features, problem.classes
        (2, 1, ('no', 'yes'))
        """
        problem = cls(scale=scale)
        problem._set(graded=graded)
        rows = labelled_rows(dataset_from_arrays(X, y), scale)
        problem._take(rows)
        problem._set(data=_ARRAYS + digest_of(rows))
        return problem

    @property
    def classes(self) -> tuple[Any, ...]:
        """The label that each arm stands for, [arm]."""
        return self.rows.classes

    @property
    def rows(self) -> LabelledRows:
        """All contexts and labels, as the runs meet them."""
        return shipped_rows(self.data, self.scale) if self._own is None else self._own

    def start(self, rng: np.random.Generator) -> _Instance:
        """Return all rows, none of them visited."""
        rows = self.rows
        order = np.arange(rows.labels.size)
        means, arms = np.zeros(self.n_arms), np.arange(self.n_arms)
        reach = max(1, self.n_arms - 1) if self.graded else 1
        return _Instance(rows.contexts, rows.labels, order, means, arms, NO_FEATURES, reach)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled problem, and make its arrays read-only again."""
        self._set(**state)
        if self._own is not None:
            frozen(self._own.contexts)
            frozen(self._own.labels)

    def _take(self, rows: LabelledRows) -> None:
        """Keep rows that do not come with giro, so that they travel with the problem."""
        if self.graded and not all(isinstance(label, int | float) for label in rows.classes):
            raise BadParameter(f"graded classes are numbers, got {rows.classes[0]!r}")
        n_features = rows.contexts.shape[1]
        self._set(_own=rows, n_arms=len(rows.classes), n_features=n_features)

    def _set(self, **values: Any) -> None:
        for key, value in values.items():
            object.__setattr__(self, key, value)
