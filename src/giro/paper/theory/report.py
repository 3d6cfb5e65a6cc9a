"""A report: tables, statements of the paper with their verdicts, and a figure.

Reports also share the formats of numbers (rounded to some digits, or as a power if they are huge)
and the style of figures (panels side by side, the look of a curve, axes of powers). Matplotlib is
imported only to draw, so that reports load without it.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from giro.named import text_of
from giro.paper.claims import Verdict
from giro.tables import Column, Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREY = "0.45"
_PANEL = (3.5, 2.9)  # inches
_PLAIN = math.log(1e6)  # logarithm up to which a number is written out
_WRITTEN = 1e6  # logarithm up to which the digits of its number are meaningful


class Table(NamedTuple):
    """Records of one kind. A table without columns is not printed."""

    name: str
    title: str
    columns: Sequence[Column]
    records: Sequence[Record]


def table(name: str, title: str, columns: Sequence[Column], rows: Iterable[Sequence[Any]]) -> Table:
    """Return a table of rows, each with a value for each column, in order."""
    keys = [column.key for column in columns]
    return Table(name, title, columns, [dict(zip(keys, row, strict=True)) for row in rows])


class Report(NamedTuple):
    """The results of a command. `command` repeats it, `draw` makes its figure."""

    command: str
    tables: Sequence[Table]
    statements: Sequence[Verdict]
    draw: "Callable[[], Figure]"


# -- numbers ---------------------------------------------------------------------------------------


def text(value: Any) -> str:
    """Return words unchanged and numbers as short as possible, 1/3 as a fraction."""
    return "-" if value != value else text_of(value)  # noqa: PLR0124  # only NaN differs from itself


def digits(count: int) -> Callable[[float], str]:
    """Return a format with this number of digits and a dash for NaN."""
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
    """Return yes or no, or a dash if it is unknown."""
    return {True: "yes", False: "no", None: "-"}[value]


def listed(values: Any) -> str:
    """Return numbers as they are typed after an option: 0.7,0.4."""
    return ",".join(text_of(float(value)) for value in values)


# -- figures ---------------------------------------------------------------------------------------


@contextmanager
def panels(count: int) -> "Iterator[tuple[Figure, list[Axes]]]":
    """Yield a figure with `count` panels in a row, in giro's style."""
    import matplotlib as mpl  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    from giro.plots.style import STYLE  # noqa: PLC0415

    with mpl.rc_context({**STYLE, "legend.fontsize": 8, "legend.frameon": False}):
        figure = Figure(figsize=(_PANEL[0] * count, _PANEL[1]), layout="constrained")
        yield figure, list(figure.subplots(1, count, squeeze=False)[0])


def look(i: int) -> dict[str, Any]:
    """Return the colour and the dashes of the i-th curve."""
    from giro.plots.style import COLOURS, DASHES  # noqa: PLC0415

    return {"color": COLOURS[i % len(COLOURS)], "linestyle": DASHES[i % len(DASHES)]}


def powers_of_ten(panel: "Axes") -> None:
    """Label a y axis of decimal logarithms with the numbers themselves."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator  # noqa: PLC0415

    panel.yaxis.set_major_locator(MaxNLocator(7, integer=True))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"$10^{{{y:.0f}}}$"))


def log10(log: ArrayLike) -> np.ndarray:
    """Return decimal logarithms from natural ones."""
    return np.asarray(np.asarray(log, dtype=np.float64) / np.log(10))
