"""What the theory figures share: panels side by side, the look of a curve, axes of powers.

Matplotlib is imported where something is drawn, so that reports load without it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREY = "0.45"
_PANEL = (3.5, 2.9)  # inches


@contextmanager
def panels(count: int) -> "Iterator[tuple[Figure, list[Axes]]]":
    """Yield a figure with `count` panels in a row, to be drawn in giro's style."""
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
