"""How numbers are shown: rounded to some digits, or as a power where they are huge."""

import math
from collections.abc import Callable
from typing import Any

from giro.named import text_of

_PLAIN = math.log(1e6)  # logarithm up to which a number is written out
_WRITTEN = 1e6  # logarithm up to which the digits of its number are worth anything


def text(value: Any) -> str:
    """Return words as they are, numbers as short as possible, 1/3 as a fraction."""
    return "-" if value != value else text_of(value)  # noqa: PLR0124  # only NaN differs from itself


def digits(count: int) -> Callable[[float], str]:
    """Return a format with this number of digits; a dash for NaN."""
    return lambda value: "-" if math.isnan(value) else f"{value:.{count}g}"


def from_log(log: float) -> str:
    """Return the number that has this logarithm, which may be too large for a float.

    >>> from_log(math.log(151.61)), from_log(34.8), from_log(2300.0)
    ('151.6', '1.3e+15', '7.5e+998')
    """
    if math.isnan(log):
        return "-"
    if log < _PLAIN:
        return f"{math.exp(log):.1f}"
    if log > _WRITTEN:
        return power(log)
    exponent, mantissa = divmod(log / math.log(10), 1)
    shown = f"{10**mantissa:.1f}"
    if shown == "10.0":
        exponent, shown = exponent + 1, "1.0"
    return f"{shown}e+{exponent:.0f}"


def power(log: float) -> str:
    """Return the number that has this logarithm as a power of e, as the paper does.

    >>> power(24.0), power(27.578), power(1e9)
    ('e^24.0', 'e^27.6', 'e^1e+09')
    """
    if math.isnan(log):
        return "-"
    return f"e^{log:.1f}" if abs(log) < _WRITTEN else f"e^{log:.3g}"


def yes(value: bool | None) -> str:
    """Return yes or no, a dash where it is unknown."""
    return {True: "yes", False: "no", None: "-"}[value]


def listed(values: Any) -> str:
    """Return numbers as they are typed after an option: 0.7,0.4."""
    return ",".join(text_of(float(value)) for value in values)
