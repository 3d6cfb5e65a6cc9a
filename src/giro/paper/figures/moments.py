"""The informal argument of Section 4.2 drawn: its condition, and where Equation 7 fails."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from giro.paper.figures.panels import GREY, look, panels, styled


class Failures(NamedTuple):
    """Whether Equation 7 fails for some history, [mean, s]."""

    s: Sequence[int]
    means: Sequence[float]
    fails: np.ndarray
    a: str


@styled
def moments_figure(root: float, failures: Sequence[Failures]) -> Figure:
    """Return the variance condition against `a`, and a map of failures for each `a`."""
    figure, axes = panels(1 + len(failures))
    _draw_condition(axes[0], root)
    for panel, which in zip(axes[1:], failures, strict=True):
        _draw_failures(panel, which)
    axes[1].set_ylabel("mean of the arm")
    axes[1].legend(
        handles=[
            Patch(color=look(1)["color"], alpha=0.55, label="fails for some history"),
            Line2D([], [], label=r"fails below $1 - 2^{-1/s}$, for any a", **look(0)),
        ],
        loc="upper right",
        frameon=True,
        framealpha=0.9,
        edgecolor="none",
    )
    return figure


def _draw_condition(panel: Axes, root: float) -> None:
    a = np.linspace(0, 1, 101)
    panel.plot(a, a * (a + 1) / (2 * a + 1), label=r"$a(a+1)/(2a+1)$", **look(0))
    panel.axhline(0.25, label="1/4", **look(1))
    panel.plot([root], [0.25], "o", color=look(0)["color"], markersize=4.5)
    label = rf"$a = (\sqrt{{5}}-1)/4 \approx {root:.3f}$"
    panel.annotate(label, (root, 0.25), (8, -13), textcoords="offset points")
    panel.axvline(1 / 3, color=GREY, linewidth=0.8)
    panel.annotate("a = 1/3", (1 / 3, 0.02), (4, 0), textcoords="offset points", color=GREY)
    panel.set_xlim(0, 1)
    panel.set_ylim(bottom=0)
    panel.set_xlabel("a, pseudo rewards of each kind per pull")
    panel.set_ylabel("ratio of variances")
    panel.set_title("normal values would be optimistic above 1/4")
    panel.legend(loc="lower right")


def _draw_failures(panel: Axes, which: Failures) -> None:
    gap = (which.s[1] - which.s[0]) / 2 if len(which.s) > 1 else 0.5
    step = (which.means[1] - which.means[0]) / 2 if len(which.means) > 1 else 0.01
    panel.pcolormesh(
        np.append(np.array(which.s) - gap, which.s[-1] + gap),
        np.append(np.array(which.means) - step, which.means[-1] + step),
        np.where(which.fails, 1.0, np.nan),
        cmap=ListedColormap([look(1)["color"]]),
        alpha=0.55,
        rasterized=True,
    )
    s = np.linspace(which.s[0] - gap, which.s[-1] + gap, 200)
    panel.plot(s, 1 - 0.5 ** (1 / np.maximum(s, 0.5)), **look(0))
    panel.set_xlim(s[0], s[-1])
    panel.set_ylim(0, 1)
    panel.set_xlabel("pulls s")
    panel.set_title(f"where Equation 7 fails, a = {which.a}")
