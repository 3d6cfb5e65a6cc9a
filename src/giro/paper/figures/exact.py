"""Exact expected regret drawn with what was simulated on it."""

from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from giro.paper.figures.panels import Curve, look, panels, styled


class Simulated(NamedTuple):
    """Means over runs and half their 95 % confidence intervals."""

    mean: ArrayLike
    margin: ArrayLike
    runs: int


@styled
def exact_figure(exact: Curve, simulated: Simulated | None, bound: Curve | None) -> Figure:
    """Return the exact curve, simulated points with error bars, and Lemma 1's lower bound."""
    figure, (panel,) = panels(1)
    panel.plot(exact.x, exact.y, label=f"{exact.label}, exact", **look(0))
    if simulated is not None:
        panel.errorbar(
            exact.x, simulated.mean, yerr=simulated.margin, fmt="o", markersize=3,
            color=look(1)["color"], elinewidth=1, label=f"simulated, {simulated.runs:,} runs",
        )  # fmt: skip
    if bound is not None:
        panel.plot(bound.x, bound.y, label=bound.label, **look(2))
    panel.set_ylim(bottom=0)
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.set_xlabel("round")
    panel.set_ylabel("cumulative regret")
    panel.legend(loc="upper left")
    return figure
