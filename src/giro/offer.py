"""Offer: the arms that can be chosen in a round, with the features of the round and the arms."""

import itertools
import math
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from giro.compiling import bind, dispatched, inline_kernel

Context: TypeAlias = np.ndarray  # [feature], empty where nothing is known of the round
AnyRow: TypeAlias = Any  # a `Context`, or a `SparseRow`
AnyRows: TypeAlias = Any  # [i, feature] of arms, shape (0, 0) without any; or `SparseRows`


MOST_PRODUCTS: Final = 500


class SparseRow(NamedTuple):
    """The features of one arm, or of a round, that are not zero."""

    column: np.ndarray  # [j] which they are; where features are hashed, see `giro.hashing`
    value: np.ndarray  # [j]


class SparseRows(NamedTuple):
    """Features of arms, most of them zero: row i has those from begin[i] up to begin[i + 1]."""

    begin: np.ndarray  # [row + 1]
    column: np.ndarray  # [j]
    value: np.ndarray  # [j]


class Offer(NamedTuple):
    """The arms that can be chosen in a round, with the features of the round and the arms."""

    arms: np.ndarray  # [i] numbers of the arms on offer, ascending
    context: Any  # [feature] of the round, or a `SparseRow` where features are hashed
    features: Any  # [i, feature] of each arm on offer, or `SparseRows`; shape (0, 0) without any


class Case(NamedTuple):
    """What is known when a reward is learned: the round, the arm chosen in it, and the others.

    Few policies look at the others. Those who keep cases may leave them out for all but these, see
    `Policy.learns_from_offers`.
    """

    context: Any  # [feature], or a `SparseRow`
    features: Any  # [feature], or a `SparseRow`; empty without any
    offer: Any = None  # the `Offer` that the arm was chosen from, or None
    chance: float = math.nan  # probability with which it was, if it is known


class Shape(NamedTuple):
    """The size of a state: the offers it can be shown, and how much it can learn."""

    n_arms: int  # arms are numbered 0, 1, ..., n_arms - 1
    n_features: int  # of a context
    n_arm_features: int  # of each arm, 0 without any
    rounds: int  # that are planned for; only some policies plan
    capacity: int  # rewards that can be learned before the state has to grow
    sparse: bool = False  # whether features come as sparse rows and have codes, see `giro.hashing`
    layout: tuple[tuple[int, int], ...] | None = None  # see `columns`; None: the usual one

    @property
    def columns(self) -> np.ndarray:
        """The columns of a regression, [2, column]: a feature of the context times one of the arm.

        -1 stands for none, so that (-1, -1) is the constant. By default the context, the arm,
        products of each of the one with each of the other, if these are no more than 500 (a dense
        regression on more is slow, and learns little), and the constant.
        """
        pairs = self.layout
        if pairs is None:
            n, m = self.n_features, self.n_arm_features
            products = itertools.product(range(n), range(m)) if n * m <= MOST_PRODUCTS else ()
            pairs = (
                *((i, -1) for i in range(n)),
                *((-1, j) for j in range(m)),
                *products,
                (-1, -1),
            )
        return np.array(pairs, np.int64).reshape(-1, 2).T.copy()

    @property
    def width(self) -> int:
        """Columns of a regression: the context, the arm, products of both, and a constant 1."""
        return int(self.columns.shape[1])

    @property
    def contextual(self) -> bool:
        """Whether anything is known of rounds or arms."""
        return self.sparse or self.layout is not None or self.n_features + self.n_arm_features > 0

    @property
    def n_models(self) -> int:
        """How many models there are: one for each arm, or one for all if arms have features."""
        return 1 if self.n_arm_features > 0 else self.n_arms


NO_FEATURES = np.empty((0, 0))  # of arms of which nothing is known
NO_CONTEXT = np.empty(0)


def offer_of(n_arms: int, context: Context = NO_CONTEXT) -> Offer:
    """Return the offer of all arms, of which nothing is known."""
    return Offer(np.arange(n_arms), context, NO_FEATURES)


@inline_kernel
def of_arms(values: np.ndarray, arms: np.ndarray) -> np.ndarray:
    """Return values[arm] of these arms in their order, or the array itself if these are all arms.

    An empty array, as the ranking of arms whose ties are drawn, stays empty.
    """
    if values.size in (arms.size, 0):
        return values
    chosen = np.empty(arms.size, values.dtype)
    for i in range(arms.size):
        chosen[i] = values[arms[i]]
    return chosen


@inline_kernel
def position_of(offer: Any, arm: int) -> int:
    """Return where an arm stands among those on offer, -1 if it is not on offer."""
    arms = offer.arms
    if arm < 0:
        return -1
    if arm < arms.size and arms[arm] == arm:  # always, where all arms are on offer
        return arm
    position, end = 0, arms.size
    while position < end:
        middle = (position + end) // 2
        if arms[middle] < arm:
            position = middle + 1
        else:
            end = middle
    return position if position < arms.size and arms[position] == arm else -1


@inline_kernel
def case_of(offer: Any, position: int) -> Case:
    """Return the case of the arm at a place of the offer."""
    return Case(offer.context, features_at(offer.features, position), offer, math.nan)


@dispatched
def features_at(features: Any, position: int) -> Any:
    """Return the features of the arm at a place of an offer, an empty array if it has none."""
    raise TypeError("replaced by dispatch")


@inline_kernel
def _dense_at(features: np.ndarray, position: int) -> np.ndarray:
    return features[position] if features.shape[0] > 0 else features.ravel()[:0]


@inline_kernel
def _sparse_at(features: SparseRows, position: int) -> SparseRow:
    first, last = features.begin[position], features.begin[position + 1]
    return SparseRow(features.column[first:last], features.value[first:last])


def row_at(features: AnyRows, position: int) -> AnyRow:
    """Return the features of the arm at a place of an offer, for Python.

    Where no arm has any, nothing needs to be compiled.
    """
    return NO_CONTEXT if features is NO_FEATURES else features_at(features, position)


def rows_at(features: AnyRows, positions: np.ndarray) -> AnyRows:
    """Return the features of the arms at some places of an offer."""
    if isinstance(features, np.ndarray):
        return features[positions] if features.size else features
    begin, end = features.begin[positions], features.begin[positions + 1]
    first = np.concatenate([[0], np.cumsum(end - begin)])
    taken = np.arange(first[-1]) + np.repeat(begin - first[:-1], end - begin)
    return SparseRows(first, features.column[taken], features.value[taken])


@dispatched
def put_features(features: Any, row: np.ndarray) -> None:
    """Write the features of an arm into a row, zeros included."""
    raise TypeError("replaced by dispatch")


@inline_kernel
def _put_dense(features: np.ndarray, row: np.ndarray) -> None:
    for j in range(features.size):
        row[j] = features[j]


@inline_kernel
def _put_sparse(features: SparseRow, row: np.ndarray) -> None:
    row[:] = 0.0
    for j in range(features.column.size):
        row[features.column[j]] += features.value[j]


bind(features_at, np.ndarray, _dense_at)
bind(features_at, SparseRows, _sparse_at)
bind(put_features, np.ndarray, _put_dense)
bind(put_features, SparseRow, _put_sparse)
