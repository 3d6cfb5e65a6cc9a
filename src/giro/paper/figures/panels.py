"""What the theory figures share: panels side by side, the look of a curve, axes of powers."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, ParamSpec

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import ArrayLike

from giro.plots.style import COLOURS, DASHES, STYLE

P = ParamSpec("P")

GREY = "0.45"
_PANEL = (3.5, 2.9)  # inches


class Curve(NamedTuple):
    """Points joined by a line, under a name."""

    label: str
    x: ArrayLike
    y: ArrayLike


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Let a function draw in the style of all figures of giro."""

    @functools.wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with mpl.rc_context({**STYLE, "legend.fontsize": 8, "legend.frameon": False}):
            return draw(*args, **kwargs)

    return drawn


def panels(count: int) -> tuple[Figure, list[Axes]]:
    """Return a figure with so many panels in a row."""
    figure = Figure(figsize=(_PANEL[0] * count, _PANEL[1]), layout="constrained")
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def look(i: int) -> dict[str, Any]:
    """Return the colour and the dashes of the i-th curve."""
    return {"color": COLOURS[i % len(COLOURS)], "linestyle": DASHES[i % len(DASHES)]}


def powers_of_ten(panel: Axes, *, most: int = 7) -> None:
    """Label a y axis of decimal logarithms with the numbers themselves."""
    panel.yaxis.set_major_locator(MaxNLocator(most, integer=True))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"$10^{{{y:.0f}}}$"))


def log10(log: ArrayLike) -> np.ndarray:
    """Return decimal logarithms from natural ones."""
    return np.asarray(np.asarray(log, dtype=np.float64) / np.log(10))
