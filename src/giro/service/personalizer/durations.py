"""Durations as Personalizer writes them: `00:10:00` of .NET, and `PT10M` of ISO 8601."""

import re

_NET = re.compile(r"(?:(\d{1,8})\.)?(\d{1,2}):(\d{2}):(\d{2}(?:\.\d{1,7})?)")
_ISO = re.compile(
    r"P(?:(\d{1,8})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?)?"
)
_UNITS = (86400.0, 3600.0, 60.0, 1.0)


def seconds_in(text: str) -> float | None:
    """Return the seconds of a duration, or None for any other text.

    >>> seconds_in("00:10:00"), seconds_in("1.02:00:00"), seconds_in("PT10M"), seconds_in("P1DT2H")
    (600.0, 93600.0, 600.0, 93600.0)
    >>> seconds_in("10"), seconds_in("P"), seconds_in("PT")
    (None, None, None)
    """
    match = _NET.fullmatch(text) or _ISO.fullmatch(text)
    if match is None or not any(match.groups()) or text.endswith("T"):
        return None
    parts = zip(match.groups(), _UNITS, strict=True)
    return sum(float(part) * unit for part, unit in parts if part)


def net_duration(seconds: float) -> str:
    """Return a duration as version 1.0 writes it.

    >>> net_duration(600.0), net_duration(93605.0)
    ('00:10:00', '1.02:00:05')
    """
    days, hours, minutes, rest = _parts(seconds)
    return f"{f'{days}.' if days else ''}{hours:02}:{minutes:02}:{rest:02}"


def iso_duration(seconds: float) -> str:
    """Return a duration as later versions write it.

    >>> iso_duration(600.0), iso_duration(93605.0), iso_duration(0.0)
    ('PT10M', 'P1DT2H5S', 'PT0S')
    """
    days, hours, minutes, rest = _parts(seconds)
    time = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M"), (rest, "S")) if n)
    day = f"{days}D" if days else ""
    return f"P{day}T{time}" if time else f"P{day}" if day else "PT0S"


def _parts(seconds: float) -> tuple[int, int, int, int]:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return days, hours, minutes, rest
