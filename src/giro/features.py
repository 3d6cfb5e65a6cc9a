"""From numbers and words to columns: contexts and features of arms one by one, tables as a whole.

A number is a column. A word is one of the columns of its feature: by its position among known words
(one-hot), or by a hash.
"""

import dataclasses
import functools
import hashlib
import itertools
import math
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from giro.errors import BadParameter
from giro.hashing import IS_NUMBER, MOST_CROSSES, code_of, crossed_by

if TYPE_CHECKING:
    import polars as pl

Given: TypeAlias = ArrayLike | Mapping[str, Any] | None
Kind: TypeAlias = str | tuple[str | None, ...] | int  # "number", words, or columns of a hash
HASH_COLUMNS = 16  # for a feature of words that was not declared
LARGEST = 1e150  # of a number, so that sums of squares stay finite
_SHOWN = 80  # characters of names in an error, about


@dataclasses.dataclass(frozen=True)
class Encoder:
    """How contexts become features, decided by the first of them and the same ever after.

    Sequences keep their numbers. In mappings, a number is a column; a word is one of the columns of
    its feature, by its place among declared words or by a hash. Declared words end with None, which
    stands for all others (giro 0.1.0 refused these, and its files still do). A number that is not
    known is NaN; of a word that is not known, all columns are 0.
    """

    n_given: int  # numbers in a sequence; 0 with mappings or without contexts
    features: tuple[tuple[str, Kind], ...]  # of mappings, in the order of their columns
    noun: str = "a context"  # what is encoded, for errors

    @classmethod
    def fitted(cls, context: Given, features: Mapping[str, Any] | None) -> "Encoder":
        """Return the encoder for contexts like this one; declared features come first."""
        if features is not None:
            encoder = cls(0, declared(features))
            encoder.encode(context)  # is it one of these?
            return encoder
        if context is None:
            return cls(0, ())
        if isinstance(context, Mapping):
            return cls(0, _kinds_in(_flat(context), "context"))
        return cls(_row(context, "a context").size, ())

    @classmethod
    def fitted_to_arm(cls, name: str, features: Given) -> "Encoder":
        """Return the encoder for features of arms like those of this one."""
        if features is None:
            raise BadParameter(f"arm '{name}' has no features: give those of every arm")
        try:
            if isinstance(features, Mapping):
                return cls(0, _kinds_in(_flat(features), "row of features"), _OF_ARM)
            return cls(_row(features, _OF_ARM).size, (), _OF_ARM)
        except BadParameter as error:
            raise BadParameter(f"arm '{name}': {error}") from None

    def to_json(self) -> dict[str, Any]:
        """Return plain data from which `from_json` makes an equal encoder."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Encoder":
        """Return the encoder described by plain data."""
        kinds = tuple((str(name), _kind_of_json(name, kind)) for name, kind in plain["features"])
        return cls(int(plain["n_given"]), kinds, str(plain.get("noun", "a context")))

    @property
    def is_empty(self) -> bool:
        """Whether there is no feature."""
        return self.n_features == 0

    @functools.cached_property
    def n_features(self) -> int:
        """How many numbers a context becomes."""
        return self.n_given + sum(_width(kind) for _, kind in self.features)

    @functools.cached_property
    def is_number(self) -> np.ndarray:
        """Which columns are numbers, and not places of words, [column]."""
        found = np.zeros(self.n_features, bool)
        found[: self.n_given] = True
        for first, kind in self._places.values():
            found[first] |= kind == "number"
        return found

    def columns(self, part: str, whole: str) -> list[int]:
        """Return the columns of the features that a part of an interaction names."""
        names = [str(i) for i in range(self.n_given)]
        names += [name for name, kind in self.features for _ in range(_width(kind))]
        found = [i for i, name in enumerate(names) if part == whole or _is_in(name, part)]
        if not found and part != whole:
            known = sorted({whole, *itertools.chain.from_iterable(map(_parts_with, names))})
            raise BadParameter(
                f"interactions name {_short(part)}, which {self.noun} does not have; "
                f"known are {_listed(known)}{_hint(part, known)}"
            )
        return found

    @functools.cached_property
    def _places(self) -> dict[str, tuple[int, Kind]]:
        """Of each name its first column, and its kind."""
        widths = [_width(kind) for _, kind in self.features]
        firsts = itertools.accumulate(widths, initial=0)
        return {
            name: (first, kind) for (name, kind), first in zip(self.features, firsts, strict=False)
        }

    @functools.cached_property
    def _nothing_known(self) -> np.ndarray:
        return np.where(self.is_number, math.nan, 0.0)

    def encode(self, context: Given) -> np.ndarray:
        """Return the features of a context, which has the form of the first one."""
        if isinstance(context, Mapping):
            places, row = self._places, self._nothing_known.copy()
            for name, value in _flat(context).items():
                if name not in places:
                    raise BadParameter(self._unknown(name))
                if not _is_missing(value):
                    first, kind = places[name]
                    position, number = _place(name, kind, value)
                    row[first + position] = number
            return row
        if context is None:
            if self.n_features > 0:
                raise BadParameter(f"every decision of this bandit needs a context: {self}")
            return _EMPTY
        row = _row(context, self.noun)
        if row.size != self.n_given or self.features:
            raise BadParameter(f"this bandit wants {self}, got {row.size} numbers")
        return row

    def encode_arm(self, name: str, features: Given) -> np.ndarray:
        """Return the features of an arm, which have the form of the first ones."""
        if features is None:
            raise BadParameter(f"arm '{name}' has no features: give those of every arm")
        try:
            return self.encode(features)
        except BadParameter as error:
            raise BadParameter(f"arm '{name}': {error}") from None

    def _unknown(self, name: object) -> str:
        """Say that nothing of this name is known, and what is."""
        if not self.features:
            return f"this bandit wants {self}, got a mapping with the name {_short(name)}"
        return f"this bandit wants {self}, got {_short(name)}{_hint(name, self._places)}"

    def __str__(self) -> str:
        """Say what a context looks like."""
        if self.features:
            return f"{self.noun} of the features {_listed(self._places)}"
        return f"{self.noun} of {self.n_given} numbers" if self.n_given else "no context"


_EMPTY = np.empty(0)
_OF_ARM = "a row of features"
_DEEPEST = 10  # mappings inside of each other


@dataclasses.dataclass(frozen=True)
class Hasher:
    """How contexts and features of arms become rows of pairs; see `giro.hashing`.

    Any names and words, in mappings that may hold others and lists, and any of them missing.
    `interactions` names what is multiplied, as `user*item`: first a part of the context, then one
    of the arm. A part is a feature, or a mapping with all that is in it, or everything: `context`
    and `arm`. None multiplies everything by everything.
    """

    interactions: Sequence[str] | None = None
    standardised: bool = True  # whether numbers are taken less their mean and over their spread

    def __post_init__(self) -> None:
        """Check the interactions."""
        given = self.interactions
        if given is None:
            return
        if isinstance(given, str) or not isinstance(given, Sequence):
            raise BadParameter(f"interactions is a list, as ['user*item'], got {_short(given)}")
        for text in given:
            sides = text.split("*") if isinstance(text, str) else []
            if len(sides) != 2 or not all(map(str.strip, sides)):
                raise BadParameter(f"an interaction is written 'user*item', got {_short(text)}")
        if len(given) > MOST_CROSSES:
            raise BadParameter(f"there can be {MOST_CROSSES} interactions, got {len(given)}")
        parts = ([part.strip() for part in text.split("*")] for text in given)
        object.__setattr__(self, "interactions", tuple(map("*".join, parts)))

    def context(self, given: Any) -> np.ndarray:
        """Return what is known of a round, as a row of pairs."""
        return np.array(self._pairs(given, 0), np.float64)

    def arms(self, arms: Mapping[str, Any] | Sequence[str]) -> np.ndarray:
        """Return what is known of each arm, [i, pair]; of one of which nothing is, its name."""
        rows = []
        for name in arms:
            features = arms[name] if isinstance(arms, Mapping) else None
            try:
                rows.append(self._pairs(features, 1) or self._pairs({"arm": name}, 1))
            except BadParameter as error:
                raise BadParameter(f"arm '{name}': {error}") from None
        width = max(map(len, rows))
        return np.array([row + [0.0] * (width - len(row)) for row in rows], np.float64)

    def absent(self, context: Any, arms: Iterable[Any]) -> list[str]:
        """Return the parts of interactions that name nothing in a context, or in any of the arms.

        They may come later; or they are misspelt.
        """
        names = (
            {name for name, _, _ in _features(context, 0)},
            {name for features in arms for name, _, _ in _features(features, 1)},
        )
        parts = [part for text in self.interactions or () for part in enumerate(text.split("*"))]
        absent = (
            part
            for side, part in parts
            if part != _WHOLE[side] and not any(_is_in(name, part) for name in names[side])
        )
        return list(dict.fromkeys(absent))

    def _pairs(self, given: Any, side: int) -> list[float]:
        found: list[float] = []
        for name, code, number in _features(given, side):
            crosses = 0 if self.interactions is None else _crosses(self.interactions, name, side)
            kept = code if self.standardised else code & ~IS_NUMBER
            found += (float(crossed_by(kept, crosses)), number)
        return found


@functools.lru_cache(maxsize=65_536)
def _crosses(interactions: Sequence[str], name: str, side: int) -> int:
    """Return a bit for each interaction that a feature takes part in."""
    parts = [text.split("*")[side] for text in interactions]
    bits = sum(1 << i for i, part in enumerate(parts) if part == _WHOLE[side] or _is_in(name, part))
    return bits or 1 << (MOST_CROSSES + side)  # which no feature of the other side has


def _parts_with(name: str) -> Iterator[str]:
    """Yield the parts of interactions that a feature is in: itself, and mappings that hold it."""
    return itertools.accumulate(name.split("."), "{}.{}".format)


def _is_in(name: str, part: str) -> bool:
    """Tell whether a part of an interaction is a feature, or a mapping that holds it."""
    return name == part or name.startswith(f"{part}.")


_WHOLE = ("context", "arm")
_NOUNS = ("a context", _OF_ARM)


def _features(given: Any, side: int) -> Iterator[tuple[str, int, float]]:
    """Yield name, code and value of each feature of a context, or of an arm."""
    if given is None:
        return
    if not isinstance(given, Mapping):
        values = _row(given, _NOUNS[side])
        given = {str(i): value for i, value in enumerate(values.tolist())}
    for name, value in given.items():
        yield from _entries(name, value, 1)


def _entries(name: Any, value: Any, depth: int) -> Iterator[tuple[str, int, float]]:
    """Yield name, code and value of each feature in something that may hold others."""
    if not isinstance(name, str):
        raise BadParameter(f"names of features are words, got {_short(name)}")
    if name.startswith("_") or _is_missing(value):
        return
    _check_depth(depth, name)
    match value:
        case str() | bool() | np.bool_():
            yield name, code_of(name, str(value)), 1.0
        case Mapping():
            for inner, its in value.items():
                known = f"{name}.{inner}" if isinstance(inner, str) else inner
                if not str(inner).startswith("_"):
                    yield from _entries(known, its, depth + 1)
        case np.ndarray():
            yield from _entries(name, value.tolist(), depth)
        case list() | tuple():
            for i, its in enumerate(value):
                known = name if isinstance(its, str | Mapping) else f"{name}.{i}"
                yield from _entries(known, its, depth + 1)
        case _:
            yield from _if_known(name, value)


def _if_known(name: str, value: Any) -> Iterator[tuple[str, int, float]]:
    """Yield a number, unless it is NaN of any kind: float32, Decimal."""
    number = _number(f"feature '{name[:_SHOWN]}' is", value)
    if not math.isnan(number):
        yield name, code_of(name), number


def declared(features: Mapping[str, Any]) -> tuple[tuple[str, Kind], ...]:
    """Return declared features in one form; see `Bandit` for what can be written."""
    if not isinstance(features, Mapping) or not features:
        raise BadParameter(
            f"features maps names to what they are, as {{'age': 'number'}}; got {_short(features)}"
        )
    return tuple((str(name), _with_others(_kind(name, kind))) for name, kind in features.items())


def _check_depth(depth: int, name: object) -> None:
    if depth > _DEEPEST:
        raise BadParameter(
            f"mappings lie in each other more than {_DEEPEST} deep at '{str(name)[:_SHOWN]}'"
        )


def _flat(given: Mapping[str, Any], depth: int = 1) -> Mapping[str, Any]:
    """Return a mapping without others in it: their names begin with that of the mapping."""
    if not any(isinstance(value, Mapping) for value in given.values()):
        return given
    found: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, Mapping):
            _check_depth(depth, name)
            found |= {f"{name}.{inner}": its for inner, its in _flat(value, depth + 1).items()}
        else:
            found[name] = value
    return found


def _with_others(kind: Kind) -> Kind:
    return (*kind, None) if isinstance(kind, tuple) else kind


def _kind_of_json(name: str, kind: Any) -> Kind:
    if isinstance(kind, list) and kind and kind[-1] is None:
        return _with_others(_kind(name, kind[:-1]))
    return _kind(name, kind)


def _kind(name: str, kind: Any) -> Kind:
    if kind == "number":
        return "number"
    if kind == "hashed":
        return HASH_COLUMNS
    if isinstance(kind, str) and kind.startswith("hashed:") and kind[7:].isdecimal():
        kind = int(kind[7:])
    if isinstance(kind, int) and not isinstance(kind, bool) and kind >= 1:
        return kind
    if isinstance(kind, Sequence) and not isinstance(kind, str) and len(kind) > 0:
        words = tuple(kind)
        if len(set(words)) == len(words) and all(isinstance(word, str) for word in words):
            return words
    raise BadParameter(
        f"feature '{name}' is 'number', a list of different words, or 'hashed:32' "
        f"(any number of columns), got {_short(kind)}"
    )


def _kinds_in(context: Mapping[str, Any], what: str) -> tuple[tuple[str, Kind], ...]:
    """Return a kind for each feature of a first context, or arm, in the order of names."""
    if not context or not all(isinstance(name, str) for name in context):
        raise BadParameter(f"a {what} maps names of features to values, got {_short(context)}")
    missing = [name for name, value in context.items() if value is None]
    if missing:
        raise BadParameter(
            f"feature {_short(missing[0])} has no value in the first {what}, which decides what "
            f"it is{': declare features=...' if what == 'context' else ''}"
        )
    return tuple(
        (name, HASH_COLUMNS if isinstance(context[name], str) else "number")
        for name in sorted(context)
    )


def _width(kind: Kind) -> int:
    if isinstance(kind, int):
        return kind
    return 1 if isinstance(kind, str) else len(kind)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _place(name: str, kind: Kind, value: Any) -> tuple[int, float]:
    """Return which of the feature's columns is set, and to what."""
    if isinstance(kind, str):
        return 0, _number(f"feature '{name}' is", value)
    if not isinstance(value, str):
        raise BadParameter(f"feature '{name}' is a word, got {_short(value)}")
    if isinstance(kind, int):
        return _hashed(name, value, kind), 1.0
    if value in kind:
        return kind.index(value), 1.0
    if kind[-1] is not None:
        raise BadParameter(f"feature '{name}' is one of {_listed(kind)}; got {_short(value)}")
    return len(kind) - 1, 1.0


@functools.lru_cache(maxsize=65_536)
def _hashed(name: str, word: str, columns: int) -> int:
    """Return the column of a word, the same on every machine and in every version."""
    digest = hashlib.blake2b(f"{name}\0{word}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % columns


def _number(what: str, value: Any) -> float:
    """Return a value as a number, NaN if it is missing."""
    if isinstance(value, str | Mapping | Sequence):
        raise BadParameter(f"{what} a number, got {_short(value)}")
    try:
        number = math.nan if value is None else float(value)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        raise BadParameter(f"{what} a number, got {_short(value)}") from None
    if abs(number) > LARGEST:
        raise BadParameter(f"{what} a number within ±{LARGEST:g}, got {_short(value)}")
    return number


def _row(context: Any, noun: str) -> np.ndarray:
    """Return a copy of a sequence of numbers, as an array; NaN where one is missing."""
    try:
        given = np.asarray(context)
    except (TypeError, ValueError):  # lists of different lengths
        raise BadParameter(f"{noun} holds numbers, got {_short(context)}") from None
    if given.dtype.kind not in "biufO" or given.ndim != 1 or given.size == 0:
        raise BadParameter(f"{noun} is a list of numbers, or a mapping; got {_short(context)}")
    if given.dtype.kind == "O":
        return np.array([_number(f"{noun} holds", value) for value in given])
    row = np.array(given, np.float64)
    if not is_usable(row):
        raise BadParameter(f"{noun} holds numbers within ±{LARGEST:g}, got {_short(context)}")
    return row


def is_usable(rows: np.ndarray) -> bool:
    """Tell whether all numbers are small enough to be squared; those missing are NaN."""
    sizes = np.abs(rows)
    return rows.size == 0 or bool(sizes.max() <= LARGEST) or not (sizes > LARGEST).any()


def filled(rows: np.ndarray) -> np.ndarray:
    """Return [row, feature] with the mean of the feature where it is missing, 0 if it always is."""
    missing = np.isnan(rows)
    if not missing.any():
        return rows
    known = np.maximum((~missing).sum(axis=0), 1)
    return np.where(missing, np.where(missing, 0.0, rows).sum(axis=0) / known, rows)


def _listed(names: Iterable[object]) -> str:
    """Return names with commas between them, as many as fit."""
    shown, rest = "", list(names)
    while rest and len(shown) < _SHOWN:
        shown += f"{', ' if shown else ''}{str(rest.pop(0))[:_SHOWN]}"
    return f"{shown} and {len(rest):,} more" if rest else shown or "none"


def _hint(name: object, known: Iterable[str]) -> str:
    """Return a question, if a known name is near."""
    import difflib  # noqa: PLC0415  # quick start

    near = difflib.get_close_matches(str(name)[:_SHOWN], list(known), n=1)
    return f"; did you mean {_short(near[0])}?" if near else ""


def _short(value: object) -> str:
    """Return how a value is written, cut off where that is long."""
    if isinstance(value, int) and abs(value) > LARGEST:
        return "one of more than 150 digits"
    return reprlib.repr(value)


# -- tables ------------------------------------------------------------------------------------


def matrix_of_columns(
    frame: "pl.DataFrame", columns: Sequence[str]
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return [row, feature] and the features' names.

    A column of numbers or truths is one feature, a column of lists one for each entry, and a
    column of text one for each text that occurs: 1 where it stands, otherwise 0 (`colour=red`).
    """
    parts: list[np.ndarray] = [np.empty((frame.height, 0))]
    names: list[str] = []
    for column in columns:
        part, part_names = _part(frame.get_column(column))
        parts.append(part)
        names.extend(part_names)
    return np.ascontiguousarray(np.hstack(parts)), tuple(names)


def matrix_of_records(records: Sequence[Mapping[str, float]]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return [row, feature] from the features that each event names; the others are 0."""
    names = list(dict.fromkeys(name for record in records for name in record))
    position = {name: i for i, name in enumerate(names)}
    matrix = np.zeros((len(records), len(names)))
    for row, record in enumerate(records):
        for name, value in record.items():
            matrix[row, position[name]] = value
    return matrix, tuple(names)


def flattened(value: Any, name: str = "") -> dict[str, float]:
    """Return the numbers inside nested JSON by their path; a text t at path x becomes x=t: 1.

    >>> flattened({"user": {"age": 30, "from": "Rome", "likes": [1, 0]}})
    {'user.age': 30.0, 'user.from=Rome': 1.0, 'user.likes.0': 1.0, 'user.likes.1': 0.0}
    """
    match value:
        case Mapping():
            inner = {k: v for k, v in value.items() if not k.startswith("_")}
            return _joined(flattened(v, f"{name}.{k}" if name else k) for k, v in inner.items())
        case list():
            return _joined(
                flattened(v, name if isinstance(v, Mapping) else f"{name}.{i}")
                for i, v in enumerate(value)
            )
        case str():
            return {f"{name}={value}": 1.0}
        case None:
            return {}
        case _:
            return {name: float(value)}


def _joined(parts: Any) -> dict[str, float]:
    joined: dict[str, float] = {}
    for part in parts:
        joined.update(part)
    return joined


def _part(column: "pl.Series") -> tuple[np.ndarray, list[str]]:
    import polars as pl  # noqa: PLC0415  # quick start without polars

    if column.null_count():
        first = int(column.is_null().arg_max() or 0)
        raise BadParameter(f"row {first + 1} has no value in the column '{column.name}'")
    kind = column.dtype
    if isinstance(kind, pl.List | pl.Array):
        rows = column.to_list()
        for i, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise BadParameter(
                    f"row {i + 1} has {len(row)} entries in the column '{column.name}', "
                    f"row 1 has {len(rows[0])}: all have the same features"
                )
        return padded(rows, column.name)
    if kind.is_numeric() or kind == pl.Boolean:
        return column.cast(pl.Float64).to_numpy().reshape(-1, 1), [column.name]
    if kind in (pl.String, pl.Categorical, pl.Enum):
        texts = np.array(column.cast(pl.String).to_list(), dtype=str)
        values, codes = np.unique(texts, return_inverse=True)
        return np.eye(values.size)[codes], [f"{column.name}={value}" for value in values]
    raise BadParameter(f"the column '{column.name}' holds {kind}: expected numbers or text")


def padded(rows: Sequence[Sequence[float]], name: str) -> tuple[np.ndarray, list[str]]:
    """Return [row, feature] with 0 where a row ends early, and the features' names."""
    longest = max(map(len, rows), default=0)
    matrix = np.zeros((len(rows), longest))
    for event, row in enumerate(rows):
        try:
            matrix[event, : len(row)] = row
        except (TypeError, ValueError):
            raise BadParameter(
                f"row {event + 1} has {row} in the column '{name}'; expected numbers"
            ) from None
    return matrix, [f"{name}.{i}" for i in range(longest)]
