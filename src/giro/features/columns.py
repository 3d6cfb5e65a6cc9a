"""Columns: contexts, or features of arms, as rows in which every column has a meaning of its own.

A number is a column. A word sets one of the columns of its feature: by its place among declared
words, or by a hash. Names that are met later get columns at the end, so that a row made before is
the beginning of a row made now, and what it lacks is missing (NaN).
"""

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from giro.errors import BadParameter
from giro.features.messages import listed, short, short_name
from giro.features.walk import Given, is_usable, leaves_at, number_row
from giro.hashing import code_of

Kind: TypeAlias = str | tuple[str | None, ...] | int  # "number", words, or columns of a hash
HASH_COLUMNS = 16  # for a feature of words that was not declared
NUMBER = "number"


class Feature(NamedTuple):
    """A name, and the columns that its values have."""

    name: str
    kind: Kind  # declared words end with None, which stands for all others
    declared: bool = False  # a feature that was not declared may be a number and a word

    @property
    def width(self) -> int:
        """The number of columns."""
        if isinstance(self.kind, int):
            return self.kind
        return 1 if isinstance(self.kind, str) else len(self.kind)

    def place(self, word: str) -> int:
        """Return which of its columns a word sets."""
        if isinstance(self.kind, int):
            return code_of(self.name, word) % self.kind
        words = self.kind
        return words.index(word) if word in words else len(words) - 1

    def word(self, place: int) -> str:
        """Return the word that sets a column, as far as it is known, for people to read."""
        if isinstance(self.kind, int):
            return f"words with hash {place}"
        return str(self.kind[place]) if self.kind[place] is not None else "any other word"


class Encoded(NamedTuple):
    """A row, and the features in it that have no columns yet."""

    row: np.ndarray  # [column] NaN where a number is missing
    new: tuple[Feature, ...] = ()


@dataclasses.dataclass(frozen=True)
class Columns:
    """The encoding of contexts, or of features of arms, as rows of numbers.

    It is a value that never changes.
    """

    n_given: int = 0  # numbers in a sequence; 0 with mappings
    features: tuple[Feature, ...] = ()  # of mappings, in the order of their columns
    noun: str = "a context"

    @classmethod
    def of_names(cls, names: Iterable[str], noun: str = "a context") -> "Columns":
        """Return columns of numbers with these names."""
        return cls(0, tuple(Feature(name, NUMBER) for name in names), noun)

    @property
    def n_columns(self) -> int:
        """The number of columns in a row."""
        return self._missing.size

    @functools.cached_property
    def is_number(self) -> np.ndarray:
        """The columns that hold numbers rather than words, [column]."""
        kinds = [NUMBER] * self.n_given
        kinds += [str(f.kind) for f in self.features for _ in range(f.width)]
        return np.array([kind == NUMBER for kind in kinds], bool)

    @functools.cached_property
    def _missing(self) -> np.ndarray:
        return np.where(self.is_number, math.nan, 0.0)

    @functools.cached_property
    def _numbers(self) -> dict[str, int]:
        """The column of each name that has a number."""
        return {f.name: first for f, first in self.placed() if f.kind == NUMBER}

    @functools.cached_property
    def _words(self) -> dict[str, tuple[Feature, int]]:
        """The feature and its first column, for each name that has words."""
        return {f.name: (f, first) for f, first in self.placed() if f.kind != NUMBER}

    def placed(self) -> Iterator[tuple[Feature, int]]:
        """Yield each feature of mappings with its first column."""
        firsts = itertools.accumulate((f.width for f in self.features), initial=self.n_given)
        return zip(self.features, firsts, strict=False)

    def names(self) -> list[str]:
        """Return the name of each column, which is that of its feature.

        Numbers of a sequence are named by their positions.
        """
        return [
            *map(str, range(self.n_given)),
            *(f.name for f in self.features for _ in range(f.width)),
        ]

    # -- encoding ----------------------------------------------------------------------------

    def encode(self, given: Given) -> Encoded:
        """Return the row of a context or of an arm's features."""
        if given is None:
            if self.n_given:
                raise BadParameter(f"every decision of this bandit needs a context: {self}")
            return self.missing()
        if not isinstance(given, Mapping):
            row = number_row(given, self.noun)
            if row.size != self.n_given or self.features:
                raise BadParameter(f"this bandit wants {self}, got {row.size} numbers")
            return Encoded(row)
        if self.n_given:
            raise BadParameter(f"this bandit wants {self}, got a mapping: {short(dict(given))}")
        return self._encode_mapping(given)

    def rows(self, given: Sequence[Given]) -> list[np.ndarray] | None:
        """Return the rows of many sequences of numbers, None if one is not like the others."""
        try:
            matrix = np.asarray(given)
        except (TypeError, ValueError):  # lists of different lengths
            return None
        is_right = matrix.dtype.kind in "biuf" and matrix.shape[1:] == (self.n_given,)
        if not is_right or not is_usable(matrix):
            return None
        return [row.copy() for row in matrix.astype(np.float64)]

    def missing(self) -> Encoded:
        """Return the row of something of which nothing is known."""
        return Encoded(self._missing.copy())

    def _encode_mapping(self, given: Mapping[str, Any]) -> Encoded:
        row, numbers, new = self._missing.copy(), self._numbers, dict[tuple[str, bool], Feature]()
        for name, value in given.items():
            if type(value) is float and name in numbers and abs(value) < 1e150:
                row[numbers[name]] = value
                continue
            for leaf, part in leaves_at(name, value):
                feature = self._put(row, leaf, part)
                if feature is not None:
                    new[leaf, feature.kind == NUMBER] = feature
        return Encoded(row, tuple(new.values()))

    def _put(self, row: np.ndarray, name: str, value: float | str) -> Feature | None:
        """Write a value into its column, or return a new feature if it has none."""
        if isinstance(value, str):
            place = self._words.get(name)
            if place is not None:
                feature, first = place
                row[first + feature.place(value)] = 1.0
                return None
            self._check_kind(name, "a number", value)
            return Feature(name, HASH_COLUMNS)
        column = self._numbers.get(name)
        if column is not None:
            row[column] = value
            return None
        self._check_kind(name, "a word", value)
        return Feature(name, NUMBER)

    def put_column(self, rows: np.ndarray, name: str, values: Any) -> bool:
        """Write all values of a name into its column, and return whether that was possible."""
        array = np.asarray(values)
        if array.ndim != 1:
            return False
        if array.dtype.kind in "biuf":
            column = self._numbers.get(name)
            if column is None or not is_usable(array):
                return False
            rows[:, column] = array
            return True
        place = self._words.get(name)
        if place is None:
            return False
        feature, first = place
        places = dict[str, int]()
        for row, word in enumerate(array.tolist()):
            if word is None:
                continue
            if type(word) is not str:
                return False
            if word not in places:
                places[word] = first + feature.place(word)
            rows[row, places[word]] = 1.0
        return True

    def _check_kind(self, name: str, kind: str, value: Any) -> None:
        """Refuse a word where a number was declared, and a number where words were."""
        if name in self._declared:
            raise BadParameter(f"feature '{short_name(name)}' is {kind}, got {short(value)}")

    @functools.cached_property
    def _declared(self) -> frozenset[str]:
        return frozenset(f.name for f in self.features if f.declared)

    # -- growing -----------------------------------------------------------------------------

    def grown(self, new: Iterable[Feature], most: int) -> "Columns":
        """Return the columns with those of new features at the end, in the order of names.

        A feature that would make them more than `most` is left out.
        """
        features, width = list(self.features), self.n_columns
        for feature in sorted(set(new), key=lambda f: (f.name, str(f.kind))):
            if self.lacks([feature]) and width + feature.width <= most:
                features.append(feature)
                width += feature.width
        return dataclasses.replace(self, features=tuple(features))

    def lacks(self, features: Iterable[Feature]) -> bool:
        """Return whether one of the features has no columns."""
        places = (self._numbers if f.kind == NUMBER else self._words for f in features)
        return any(f.name not in place for f, place in zip(features, places, strict=True))

    def upto(self, width: int) -> "Columns":
        """Return the columns as they were when there were this many."""
        if self.n_given or width == self.n_columns:
            return self
        first = [f for f, begin in self.placed() if begin + f.width <= width]
        return dataclasses.replace(self, features=tuple(first))

    # -- translating -------------------------------------------------------------------------

    def decode(self, row: np.ndarray) -> Given:
        """Return the context that a row was made from.

        Hashes of words cannot be turned back.
        """
        if self.n_given:
            return row
        given: dict[str, Any] = {}
        for feature, first in self.placed():
            values = row[first : first + feature.width]
            if isinstance(feature.kind, int):
                raise BadParameter(
                    f"the words of '{feature.name}' were hashed to {feature.kind} columns, from "
                    "which they cannot be read again"
                )
            if feature.kind == NUMBER:
                given[feature.name] = None if np.isnan(values[0]) else float(values[0])
            elif words := [w for w, v in zip(feature.kind, values, strict=True) if v == 1.0]:
                given[feature.name] = words if len(words) > 1 else words[0]
        return given

    def moved_to(self, other: "Columns") -> Iterator[tuple[int, int]]:
        """Yield each column, and the one of `other` that has the same meaning."""
        for feature, first in self.placed():
            if feature.kind == NUMBER:
                yield first, other._numbers[feature.name]
                continue
            same, begin = other._words[feature.name]
            for i in range(feature.width):
                if isinstance(feature.kind, int):
                    if same.kind != feature.kind:
                        raise BadParameter(
                            f"the words of '{feature.name}' are hashed to {feature.kind} columns "
                            f"there, and here they are {same.kind}"
                        )
                    yield first + i, begin + i
                elif feature.kind[i] is not None:
                    yield first + i, begin + same.place(str(feature.kind[i]))
                elif isinstance(same.kind, tuple):
                    yield first + i, begin + same.width - 1

    # -- describing --------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Return plain data from which `from_json` makes equal columns."""
        return {"n_given": self.n_given, "features": [list(f) for f in self.features]}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any], noun: str) -> "Columns":
        """Return the columns described by plain data."""
        features = (
            Feature(str(name), tuple(kind) if isinstance(kind, list) else kind, bool(is_declared))
            for name, kind, is_declared in plain["features"]
        )
        return cls(int(plain["n_given"]), tuple(features), noun)

    def __str__(self) -> str:
        """Describe a context that fits."""
        if self.features:
            return f"{self.noun} of the features {listed(f.name for f in self.features)}"
        return f"{self.noun} of {self.n_given} numbers" if self.n_given else "no context"

    def columns_in(self, part: str, everything: str) -> list[int]:
        """Return the columns of the features that a part of an interaction names."""
        return [i for i, name in enumerate(self.names()) if part == everything or is_in(name, part)]


def is_in(name: str, part: str) -> bool:
    """Check whether a part of an interaction is a feature, or a mapping that holds it."""
    return name == part or name.startswith(f"{part}.")


def declared(features: Mapping[str, Any]) -> tuple[Feature, ...]:
    """Return declared features in one form.

    See `Bandit` for the forms they may have.
    """
    if not isinstance(features, Mapping) or not features:
        raise BadParameter(
            f"features maps names to what they are, as {{'age': 'number'}}; got {short(features)}"
        )
    return tuple(Feature(str(name), _kind(name, kind), True) for name, kind in features.items())


def _kind(name: str, kind: Any) -> Kind:
    if kind == NUMBER:
        return NUMBER
    if kind == "hashed":
        return HASH_COLUMNS
    if isinstance(kind, str) and kind.startswith("hashed:") and kind[7:].isdecimal():
        kind = int(kind[7:])
    if isinstance(kind, int) and not isinstance(kind, bool) and kind >= 1:
        return kind
    if isinstance(kind, Sequence) and not isinstance(kind, str) and len(kind) > 0:
        words = tuple(kind)
        if len(set(words)) == len(words) and all(isinstance(word, str) for word in words):
            return (*words, None)
    raise BadParameter(
        f"feature '{name}' is 'number', a list of different words, or 'hashed:32' "
        f"(any number of columns), got {short(kind)}"
    )
