"""Values and names in error messages, cut off where they are long."""

import reprlib
from collections.abc import Iterable

LARGEST = 1e150  # of a number, so that sums of squares stay finite
_SHOWN = 80  # characters of names in an error, about


def short(value: object) -> str:
    """Return the text of a value, cut off where it is long."""
    if isinstance(value, int) and abs(value) > LARGEST:
        return "one of more than 150 digits"
    return reprlib.repr(value)


def short_name(name: object) -> str:
    """Return the beginning of a name."""
    return str(name)[:_SHOWN]


def listed(names: Iterable[object]) -> str:
    """Return names with commas between them, as many as fit."""
    shown, rest = "", list(names)
    while rest and len(shown) < _SHOWN:
        shown += f"{', ' if shown else ''}{short_name(rest.pop(0))}"
    return f"{shown} and {len(rest):,} more" if rest else shown or "none"


def hint(name: object, names: Iterable[str]) -> str:
    """Return a question that offers the nearest of the names, empty if none is near."""
    import difflib  # noqa: PLC0415  # quick start

    near = difflib.get_close_matches(short_name(name), list(names), n=1)
    return f"; did you mean {short(near[0])}?" if near else ""
