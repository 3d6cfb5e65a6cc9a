"""Formats: numbers, shares, times and durations as pages show them."""

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

NOTHING = "–"  # where a number is not known
_UNITS = ((86400.0, "day"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))
_MOST_DECIMALS = 6


def count(n: Any) -> str:
    """Return a whole number with commas.

    >>> count(1234567), count(None)
    ('1,234,567', '–')
    """
    return NOTHING if n is None else f"{int(n):,}"


def sentence(text: str) -> str:
    """Return an error's text as a sentence.

    >>> sentence("no arm is called 'x'")
    "No arm is called 'x'."
    """
    return f"{text[:1].upper()}{text[1:]}."


def decimals(widths: Iterable[Any]) -> int:
    """Return how many decimals numbers need beside intervals of these widths.

    >>> decimals([0.05, 0.3]), decimals([12.0]), decimals([])
    (3, 0, 3)
    """
    known = [float(w) for w in widths if w is not None and math.isfinite(w) and w > 0.0]
    if not known:
        return 3
    return max(0, min(_MOST_DECIMALS, 1 - math.floor(math.log10(min(known)))))


def number(x: Any, places: int = 3) -> str:
    """Return a number with this many decimals.

    >>> number(0.12345), number(-2.0, 1), number(-0.0001), number(float("nan"))
    ('0.123', '−2.0', '0.000', '–')
    """
    if x is None or not math.isfinite(x):
        return NOTHING
    return f"{x:z,.{places}f}".replace("-", "−")


def signed(x: Any, places: int = 3) -> str:
    """Return a number with its sign.

    >>> signed(0.12345), signed(-2.0, 1), signed(0.0001)
    ('+0.123', '−2.0', '0.000')
    """
    if x is None or not math.isfinite(x):
        return NOTHING
    text = number(x, places)
    return f"+{text}" if x > 0.0 and text != number(0.0, places) else text


def interval(low: Any, high: Any, places: int = 3) -> str:
    """Return the ends of an interval, if both are known.

    >>> interval(0.1, 0.25, 2), interval(-math.inf, math.inf)
    ('0.10 to 0.25', '–')
    """
    ends = number(low, places), number(high, places)
    return NOTHING if NOTHING in ends else " to ".join(ends)


def percent(p: Any, places: int = 1) -> str:
    """Return a share in per cent, a small one with two digits that count.

    >>> percent(0.791), percent(0.00031), percent(1.0), percent(0.0), percent(None)
    ('79.1 %', '0.031 %', '100 %', '0 %', '–')
    """
    if p is None or not math.isfinite(p):
        return NOTHING
    if p in (0.0, 1.0):
        return f"{100 * p:.0f} %"
    return f"{100 * p:.2g} %" if 0.0 < p < 0.001 else f"{100 * p:.{places}f} %"


def duration(seconds: Any) -> str:
    """Return a length of time in its largest unit.

    >>> duration(0.004), duration(90), duration(7200.0), duration(3e5)
    ('4 ms', '1.5 min', '2 h', '3.5 days')
    """
    if seconds is None or not math.isfinite(seconds):
        return NOTHING
    if seconds < 1.0:
        return f"{1000 * seconds:.3g} ms"
    for length, unit in _UNITS:
        if seconds >= length:
            n = f"{seconds / length:.2g}" if seconds < 100 * length else f"{seconds / length:,.0f}"
            return f"{n} {unit}{'s' if unit == 'day' and n != '1' else ''}"
    return NOTHING


def ago(time: float, now: float) -> str:
    """Return how long ago a time was.

    >>> ago(1000.0, 1000.3), ago(0.0, 7200.0), ago(60.0, 0.0)
    ('just now', '2 h ago', 'in 1 min')
    """
    if abs(now - time) < 1.0:
        return "just now"
    return f"{duration(now - time)} ago" if now > time else f"in {duration(time - now)}"


def exact(time: Any) -> str:
    """Return a time to the second, in UTC.

    >>> exact(0.0), exact(1e18)
    ('1970-01-01 00:00:00 UTC', '1e+18 s after 1970')
    """
    try:
        return f"{datetime.fromtimestamp(float(time), UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError, OSError):
        return f"{time:g} s after 1970"


def machine(time: Any) -> str:
    """Return a time as programs read it.

    >>> machine(0.25)
    '1970-01-01T00:00:00.250000+00:00'
    """
    try:
        return datetime.fromtimestamp(float(time), UTC).isoformat()
    except (OverflowError, ValueError, OSError):
        return ""
