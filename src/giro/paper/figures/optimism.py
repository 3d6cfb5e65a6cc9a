"""The expected inverse probability of being optimistic, drawn below its bound."""

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giro.paper.figures.panels import Curve, log10, look, panels, powers_of_ten, styled

_HIGHEST = 50  # powers of ten shown; W without end grows without end


class Bounded(NamedTuple):
    """The largest W over p for one `a`, as logarithms, and the bound c where there is one."""

    curve: Curve
    log_c: float | None


@styled
def optimism_figure(
    largest: Sequence[Bounded], growth: Sequence[Curve], threshold: float
) -> Figure:
    """Return W against c for the paper's `a`, and W's growth for small `a`."""
    figure, (left, right) = panels(2)
    _draw_bounds(left, largest)
    _draw_growth(right, growth, threshold)
    return figure


def _draw_bounds(panel: Axes, largest: Sequence[Bounded]) -> None:
    for i, (curve, log_c) in enumerate(largest):
        panel.plot(curve.x, log10(curve.y), marker="o", ms=3, label=curve.label, **look(i))
        if log_c is not None and log_c < 100:
            y = float(log10(log_c))
            panel.axhline(y, **{**look(i), "linewidth": 1})
            panel.annotate(
                f"c for {curve.label}", (0.98, y), (0, 3), color=look(i)["color"], ha="right",
                xycoords=("axes fraction", "data"), textcoords="offset points", fontsize=8,
            )  # fmt: skip
    panel.set_xscale("log")
    panel.set_ylim(bottom=0)
    powers_of_ten(panel)
    panel.set_xlabel("pulls n")
    panel.set_ylabel("W, expected 1 / P(optimistic)")
    panel.set_title("largest W over all p, and its bound c")
    panel.legend(loc="upper left", bbox_to_anchor=(0.0, 0.78))


def _draw_growth(panel: Axes, growth: Sequence[Curve], threshold: float) -> None:
    for i, curve in enumerate(growth):
        panel.plot(curve.x, log10(curve.y), marker="o", ms=3, label=curve.label, **look(i))
    panel.set_ylim(0, _HIGHEST)
    powers_of_ten(panel)
    panel.set_xlabel("pulls n")
    panel.set_title(f"W at its worst p: bounded for a > {threshold:.4f} only")
    panel.legend(loc="upper right")
