"""Hashed: contexts and features of arms as sparse rows, in which a feature is a code.

Any names and words, in mappings that may hold others and lists, and any of them missing. The code
of a feature is a hash of its name, see `giro.hashing`.
"""

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from giro.errors import BadParameter
from giro.features.columns import is_in
from giro.features.walk import Given, leaves_at, number_row
from giro.hashing import IS_NUMBER, MOST_CROSSES, code_of, crossed_by
from giro.offer import SparseRow, SparseRows

WHOLE = ("context", "arm")  # parts of interactions that name everything
_NOUNS = ("a context", "a row of features")
_ROUND, _ARM = 0, 1
_MOST_CODES = 65_536  # of one side that are remembered


@dataclasses.dataclass(frozen=True)
class Hashed:
    """The encoding of contexts and features of arms as sparse rows.

    It is a value that never changes. `interactions` restricts which features are multiplied, see
    `Schema`. Numbers are marked as such unless `standardise` is False.
    """

    interactions: tuple[str, ...] | None = None
    standardise: bool = True

    def context(self, given: Given) -> SparseRow:
        """Return the row of a context."""
        codes, values = list[int](), list[float]()
        self._add(given, _ROUND, codes, values)
        return SparseRow(np.array(codes, np.int64), np.array(values, np.float64))

    def arms(self, arms: Mapping[str, Any] | Sequence[str]) -> SparseRows:
        """Return the row of each arm. An arm without features is encoded by its name."""
        codes, values, begin = list[int](), list[float](), [0]
        is_mapping = isinstance(arms, Mapping)
        for name in arms:
            try:
                self._add(arms[name] if is_mapping else None, _ARM, codes, values)  # type: ignore[call-overload]  # a mapping then
            except BadParameter as error:
                raise BadParameter(f"arm '{name}': {error}") from None
            if len(codes) == begin[-1]:
                self._add({"arm": name}, _ARM, codes, values)
            begin.append(len(codes))
        return SparseRows(
            np.array(begin, np.int64), np.array(codes, np.int64), np.array(values, np.float64)
        )

    def _add(self, given: Any, side: int, codes: list[int], values: list[float]) -> None:
        """Add the code and the value of each feature of a context, or of an arm."""
        if given is None:
            return
        if not isinstance(given, Mapping):
            row = number_row(given, _NOUNS[side]).tolist()
            given = {str(i): value for i, value in enumerate(row)}
        cache = self._codes[side]
        for name, value in given.items():
            kind = type(value)
            if kind is str and (code := cache.get((name, value))) is not None:
                codes.append(code)
                values.append(1.0)
            elif kind is float and abs(value) < 1e150 and (code := cache.get(name)) is not None:
                codes.append(code)
                values.append(value)
            else:
                for leaf, part in leaves_at(name, value):
                    codes.append(self._code(side, leaf, part))
                    values.append(1.0 if isinstance(part, str) else part)

    @functools.cached_property
    def _codes(self) -> tuple[dict[Any, int], dict[Any, int]]:
        """Codes met before, of rounds and of arms: by name, and by name and word."""
        return {}, {}

    def _code(self, side: int, name: str, value: float | str) -> int:
        cache = self._codes[side]
        key = (name, value) if isinstance(value, str) else name
        code = cache.get(key)
        if code is None:
            word = value if isinstance(value, str) else None
            crosses = 0 if self.interactions is None else _crosses(self.interactions, name, side)
            plain = code_of(name, word)
            code = crossed_by(plain if self.standardise else plain & ~IS_NUMBER, crosses)
            if len(cache) >= _MOST_CODES:
                cache.clear()
            if not name.startswith("_"):
                cache[key] = code
        return code


def _crosses(interactions: Sequence[str], name: str, side: int) -> int:
    """Return a bit for each interaction that a feature takes part in."""
    parts = [text.split("*")[side] for text in interactions]
    bits = sum(1 << i for i, part in enumerate(parts) if part == WHOLE[side] or is_in(name, part))
    return bits or 1 << (MOST_CROSSES + side)  # which no feature of the other side has
