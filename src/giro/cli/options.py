"""Options that several commands share, and readers of the numbers and lists typed after them."""

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

import typer

from giro.errors import BadParameter
from giro.simulation.engines import EngineName
from giro.simulation.metrics import Metric as MetricName

_T = TypeVar("_T")


def option(metavar: str, text: str) -> Any:
    """Return an option that takes a value."""
    return typer.Option(metavar=metavar, help=text)


_METRIC = "Curves (default: regret, or reward per round if all problems are classification)."
_FRESH = "Play runs even if those of an older version are kept; both stay."
_ADDRESS = (
    "Dask scheduler (tcp://host:8786) or Ray head node (ray://host:10001, auto); "
    "without it, start a local cluster."
)

Rounds: TypeAlias = Annotated[int, option("N", "Rounds of one run.")]
Runs: TypeAlias = Annotated[int, option("R", "Repetitions.")]
Seed: TypeAlias = Annotated[int, option("S", "Same seed, same numbers.")]
Jobs: TypeAlias = Annotated[int | None, option("J", "Threads or processes (default: all cores).")]
Engine: TypeAlias = Annotated[EngineName, typer.Option(help="Where the runs are played.")]
Address: TypeAlias = Annotated[str | None, option("URL", _ADDRESS)]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print records, not tables.")]
Plot: TypeAlias = Annotated[Path | None, option("FILE", "Figure: .png, .svg or .pdf.")]
Metric: TypeAlias = Annotated[MetricName | None, typer.Option(help=_METRIC)]

# giro serve, bandit and key
STORE = "sqlite:///giro.db"
Store: TypeAlias = Annotated[str, option("STORE", "Where giro serve keeps its bandits.")]

# giro reproduce
Out: TypeAlias = Annotated[Path, option("FOLDER", "Tables, figures and runs; resumed there.")]
Fresh: TypeAlias = Annotated[bool, typer.Option("--fresh", help=_FRESH)]
Only: TypeAlias = Annotated[str, option("DATA", "Only these data sets, as statlog,adult.")]

# giro theory
Means: TypeAlias = Annotated[str, option("M,M", "Means of the arms.")]
A: TypeAlias = Annotated[str, option("A", "Pseudo rewards of each kind per pull: 1, 1/3.")]
Trials: TypeAlias = Annotated[int, option("N", "Largest number of trials.")]


def number(text: str, option: str) -> float:
    """Return a number that may be typed as a fraction.

    >>> number("0.5", "--a"), number("1/4", "--a")
    (0.5, 0.25)
    """
    try:
        return float(Fraction(text.replace(" ", "")))
    except (ValueError, ZeroDivisionError, OverflowError):
        raise BadParameter(f"{option} is a number like 0.5 or 1/3, got '{text}'") from None


def number_list(text: str, option: str) -> list[float]:
    """Return numbers separated by commas.

    >>> number_list("0.7,0.4", "--means")
    [0.7, 0.4]
    """
    return _listed(text, option, number)


def whole_numbers(text: str, option: str) -> list[int]:
    """Return whole numbers separated by commas."""
    return _listed(text, option, _whole)


def _whole(text: str, option: str) -> int:
    value = number(text, option)
    if not value.is_integer():
        raise BadParameter(f"{option} has whole numbers, got '{text}'")
    return int(value)


def _listed(text: str, option: str, read: Callable[[str, str], _T]) -> list[_T]:
    return [read(part, option) for part in text.strip("[] ").split(",")]


def name_list(text: str) -> list[str]:
    """Return names separated by commas.

    >>> name_list("statlog, adult")
    ['statlog', 'adult']
    """
    return [name.strip() for name in text.split(",") if name.strip()]


def policy_list(text: str) -> list[str]:
    """Return the policies in a list in which commas also separate parameters.

    >>> policy_list("besa,weighted-bootstrap:zeros=1,ones=2,phe:a=1.1")
    ['besa', 'weighted-bootstrap:zeros=1,ones=2', 'phe:a=1.1']
    """
    parts = re.split(r",(?=\s*[a-z][\w-]*\s*(?:[:,]|$))", text.strip())
    return [part.strip() for part in parts if part.strip()]
