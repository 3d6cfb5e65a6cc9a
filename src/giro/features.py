"""From numbers and words to columns: contexts and features of arms one by one, tables as a whole.

A number is a column. A word is one of the columns of its feature: by its position among known words
(one-hot), or by a hash.
"""

import functools
import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from giro.errors import BadParameter

if TYPE_CHECKING:
    import polars as pl

Given: TypeAlias = ArrayLike | Mapping[str, float | str] | None
Kind: TypeAlias = str | tuple[str, ...] | int  # "number", the words one-hot, or hash columns
HASH_COLUMNS = 16  # for a feature of words that was not declared


class Encoder(NamedTuple):
    """How contexts become features, decided by the first of them and the same ever after.

    Sequences keep their numbers. In mappings, a number is a column; a word is one of the columns of
    its feature, by its place among declared words or by a hash.
    """

    n_given: int  # numbers in a sequence; 0 with mappings or without contexts
    features: tuple[tuple[str, Kind], ...]  # of mappings, in the order of their columns
    noun: str = "a context"  # what is encoded, for errors

    @classmethod
    def fitted(cls, context: Given, features: Mapping[str, Any] | None) -> "Encoder":
        """Return the encoder for contexts like this one; declared features come first."""
        if context is None:
            return cls(0, ())
        if isinstance(context, Mapping):
            kinds = declared(features) if features is not None else _kinds_in(context)
            return cls(0, kinds)
        if features is not None:
            raise BadParameter("features were declared by name, so a context is a mapping")
        return cls(_row(context, "a context").size, ())

    @classmethod
    def fitted_to_arm(cls, name: str, features: Given) -> "Encoder":
        """Return the encoder for features of arms like those of this one."""
        if features is None:
            raise BadParameter(f"arm '{name}' has no features: give those of every arm")
        try:
            if isinstance(features, Mapping):
                return cls(0, _kinds_in(features), _OF_ARM)
            return cls(_row(features, _OF_ARM).size, (), _OF_ARM)
        except BadParameter as error:
            raise BadParameter(f"arm '{name}': {error}") from None

    def to_json(self) -> dict[str, Any]:
        """Return plain data from which `from_json` makes an equal encoder."""
        return self._asdict()

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Encoder":
        """Return the encoder described by plain data."""
        kinds = ((name, _kind(name, kind)) for name, kind in plain["features"])
        return cls(int(plain["n_given"]), tuple(kinds), str(plain.get("noun", "a context")))

    @property
    def is_empty(self) -> bool:
        """Whether there is no feature."""
        return self.n_features == 0

    @property
    def n_features(self) -> int:
        """How many numbers a context becomes."""
        return self.n_given + sum(_width(kind) for _, kind in self.features)

    def encode(self, context: Given) -> np.ndarray:
        """Return the features of a context, which has the form of the first one."""
        if isinstance(context, Mapping):
            names = [name for name, _ in self.features]
            if len(context) != len(names) or any(name not in context for name in names):
                raise BadParameter(f"this bandit wants {self}, got {_listed(context)}")
            row, first = np.zeros(self.n_features), 0
            for name, kind in self.features:
                position, number = _place(name, kind, context[name])
                row[first + position] = number
                first += _width(kind)
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

    def __str__(self) -> str:
        """Say what a context looks like."""
        if self.features:
            return f"{self.noun} of the features {_listed(dict(self.features))}"
        return f"{self.noun} of {self.n_given} numbers" if self.n_given else "no context"


_EMPTY = np.empty(0)
_OF_ARM = "a row of features"


def declared(features: Mapping[str, Any]) -> tuple[tuple[str, Kind], ...]:
    """Return declared features in one form; see `Bandit` for what can be written."""
    return tuple((str(name), _kind(name, kind)) for name, kind in features.items())


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
        f"(any number of columns), got {kind!r}"
    )


def _kinds_in(context: Mapping[str, Any]) -> tuple[tuple[str, Kind], ...]:
    """Return a kind for each feature of a first context, in the order of names."""
    if not context or not all(isinstance(name, str) for name in context):
        raise BadParameter(f"a context maps names of features to values, got {dict(context)!r}")
    return tuple(
        (name, HASH_COLUMNS if isinstance(context[name], str) else "number")
        for name in sorted(context)
    )


def _width(kind: Kind) -> int:
    if isinstance(kind, int):
        return kind
    return 1 if isinstance(kind, str) else len(kind)


def _place(name: str, kind: Kind, value: Any) -> tuple[int, float]:
    """Return which of the feature's columns is set, and to what."""
    if isinstance(kind, str):
        return 0, _number(name, value)
    if not isinstance(value, str):
        raise BadParameter(f"feature '{name}' is a word, got {value!r}")
    if isinstance(kind, int):
        return _hashed(name, value, kind), 1.0
    if value not in kind:
        raise BadParameter(f"feature '{name}' is one of {', '.join(kind)}; got '{value}'")
    return kind.index(value), 1.0


@functools.lru_cache(maxsize=65_536)
def _hashed(name: str, word: str, columns: int) -> int:
    """Return the column of a word, the same on every machine and for ever."""
    digest = hashlib.blake2b(f"{name}\0{word}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % columns


def _number(name: str, value: Any) -> float:
    if isinstance(value, str | None | Mapping | Sequence):
        raise BadParameter(f"feature '{name}' is a number, got {value!r}")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise BadParameter(f"feature '{name}' is a number, got {value!r}") from None
    if not math.isfinite(number):
        raise BadParameter(f"feature '{name}' is a finite number, got {number}")
    return number


def _row(context: Any, noun: str) -> np.ndarray:
    """Return a copy of a sequence of numbers, as an array."""
    try:
        given = np.asarray(context)
    except (TypeError, ValueError):  # lists of different lengths
        raise BadParameter(f"{noun} holds numbers, got {context!r}") from None
    if given.dtype.kind not in "biuf" or given.ndim != 1 or given.size == 0:
        raise BadParameter(f"{noun} is a list of numbers, or a mapping; got {context!r}")
    row = np.array(given, np.float64)
    if not np.isfinite(row).all():
        raise BadParameter(f"{noun} holds finite numbers, got {context!r}")
    return row


def _listed(names: Mapping[str, Any]) -> str:
    return ", ".join(map(str, names)) or "none"


# -- tables ------------------------------------------------------------------------------------


def matrix_of_columns(
    frame: "pl.DataFrame", columns: Sequence[str]
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return [row, feature] and the features' names.

    A column of numbers or truths is one feature, a column of lists one for each entry, and a
    column of text one for each text that occurs: 1 where it stands, else 0 (`colour=red`).
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
    raise BadParameter(f"the column '{column.name}' holds {kind}: numbers or text are wanted")


def padded(rows: Sequence[Sequence[float]], name: str) -> tuple[np.ndarray, list[str]]:
    """Return [row, feature] with 0 where a row ends early, and the features' names."""
    longest = max(map(len, rows), default=0)
    matrix = np.zeros((len(rows), longest))
    for event, row in enumerate(rows):
        try:
            matrix[event, : len(row)] = row
        except (TypeError, ValueError):
            raise BadParameter(
                f"row {event + 1} has {row} in the column '{name}'; numbers are wanted"
            ) from None
    return matrix, [f"{name}.{i}" for i in range(longest)]
