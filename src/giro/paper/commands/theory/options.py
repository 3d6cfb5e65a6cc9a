"""Options that several theory commands have, and numbers as they are typed after them."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from giro.errors import BadParameter

_T = TypeVar("_T")

Means = Annotated[str, typer.Option(metavar="M,M", help="Means of the arms.")]
Rounds = Annotated[int, typer.Option(metavar="N", help="Rounds.")]
A = Annotated[str, typer.Option(metavar="A", help="Pseudo rewards of each kind per pull: 1, 1/3.")]
Runs = Annotated[int, typer.Option(metavar="R", help="Simulated runs.")]
Seed = Annotated[int, typer.Option(metavar="S", help="Same seed, same numbers.")]
Json = Annotated[bool, typer.Option("--json", help="Print records, not tables.")]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Figure: .png, .svg or .pdf.")]


def number(text: str, option: str) -> float:
    """Return a number, which may be typed as a fraction.

    >>> number("0.5", "--a"), number("1/4", "--a")
    (0.5, 0.25)
    """
    try:
        return float(Fraction(text.replace(" ", "")))
    except (ValueError, ZeroDivisionError, OverflowError):
        raise BadParameter(f"{option} is a number like 0.5 or 1/3, got '{text}'") from None


def numbers(text: str, option: str) -> list[float]:
    """Return numbers typed with commas between them.

    >>> numbers("0.7,0.4", "--means")
    [0.7, 0.4]
    """
    return _listed(text, option, number)


def whole_numbers(text: str, option: str) -> list[int]:
    """Return whole numbers typed with commas between them."""
    return _listed(text, option, _whole)


def _whole(text: str, option: str) -> int:
    value = number(text, option)
    if not value.is_integer():
        raise BadParameter(f"{option} has whole numbers, got '{text}'")
    return int(value)


def _listed(text: str, option: str, read: Callable[[str, str], _T]) -> list[_T]:
    return [read(part, option) for part in text.strip("[] ").split(",")]
