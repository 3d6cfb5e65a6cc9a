"""Checks of numbers and words that callers pass.

>>> check("giro", NOT_NEGATIVE, a=-1.0)
Traceback (most recent call last):
giro.errors.BadParameter: giro needs a finite a >= 0, got a=-1.0
"""

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, NamedTuple, TypeAlias

from giro.errors import BadParameter


class Needed(NamedTuple):
    """A requirement on a value: in words, with {} for the value's name, and as a test."""

    words: str
    holds: Callable[[Any], bool]


FINITE = Needed("a finite {}", math.isfinite)
POSITIVE = Needed("a finite {} > 0", lambda value: 0.0 < value < math.inf)
SHARE = Needed("{} in [0, 1]", lambda value: 0.0 <= value <= 1.0)
LEVEL = Needed("0 < {} < 1", lambda value: 0.0 < value < 1.0)


def at_least(least: float) -> Needed:
    """Require a finite number that is at least `least`."""
    return Needed(f"a finite {{}} >= {least:g}", lambda value: least <= value < math.inf)


NOT_NEGATIVE = at_least(0.0)


def whole(least: int) -> Needed:
    """Require a whole number that is at least `least`.

    NumPy's integers are accepted, True and False are not.
    """
    return Needed(f"a whole number {{}} >= {least}", lambda value: _is_whole(value, least))


def _is_whole(value: Any, least: int) -> bool:
    try:
        return not isinstance(value, bool) and operator.index(value) >= least
    except TypeError:
        return False


def among(words: Sequence[str]) -> Needed:
    """Require one of these words."""
    return Needed(f"{{}} {', '.join(words)}", lambda value: value in words)


def optional(needed: Needed) -> Needed:
    """Require the same, or None."""
    return Needed(f"{needed.words}, or none", lambda value: value is None or needed.holds(value))


# Types of parameters that say what they need: `Named` checks them.
Positive: TypeAlias = Annotated[float, POSITIVE]
NotNegative: TypeAlias = Annotated[float, NOT_NEGATIVE]
Share: TypeAlias = Annotated[float, SHARE]
Level: TypeAlias = Annotated[float, LEVEL]
Count: TypeAlias = Annotated[int, whole(1)]


def is_word(value: object) -> bool:
    """Return whether a value can be a name or an id: a non-empty string that UTF-8 can encode."""
    return (
        isinstance(value, str) and value != "" and value.encode(errors="ignore").decode() == value
    )


def ids_in(ids: Iterable[object]) -> list[str]:
    """Return ids as a list. A single one is not taken for its letters.

    >>> ids_in("abc")
    Traceback (most recent call last):
    giro.errors.BadParameter: erase takes ids of decisions in a list, got 'abc'
    """
    if isinstance(ids, str):
        raise BadParameter(f"erase takes ids of decisions in a list, got {ids!r}")
    return [str(id) for id in ids]


WORD = Needed("a non-empty word as {}", is_word)


def check(owner: str, needed: Needed, **values: Any) -> None:
    """Raise BadParameter for the first value that does not meet the need of `owner`."""
    for name, value in values.items():
        try:
            holds = needed.holds(value)
        except (TypeError, ValueError):  # not a number at all
            holds = False
        if not holds:
            wanted = needed.words.format(name)
            raise BadParameter(f"{owner} needs {wanted}, got {name}={value!r}")


def finite_range(bounds: Any) -> tuple[float, float]:
    """Return a range of rewards as (low, high), both finite, low < high."""
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        raise BadParameter(f"reward_range is a pair of numbers, got {bounds!r}") from None
    if not (low < high and math.isfinite(high - low)):
        raise BadParameter(f"reward_range is two finite numbers, low < high, got {bounds!r}")
    return low, high
