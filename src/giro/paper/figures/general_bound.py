"""Theorem 1 in numbers, drawn above simulated regret and below Theorem 2."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from giro.paper.figures.panels import Curve, look, panels, styled

_LOOKS = {"simulated": 0, "Theorem 1, tau tuned": 1, "Theorem 1": 2, "n times largest gap": 3}


class Band(NamedTuple):
    """A simulated curve between the ends of its confidence intervals."""

    label: str
    x: ArrayLike
    mean: ArrayLike
    low: ArrayLike
    high: ArrayLike


class AgainstA(NamedTuple):
    """The regret and its bounds for a few `a`, after so many rounds."""

    curves: Sequence[Curve]
    simulated: Band
    rounds: int


@styled
def general_bound_figure(
    bounds: Sequence[Curve], simulated: Band, theorem_2: Curve | None, against_a: AgainstA
) -> Figure:
    """Return all bounds, those that say something, and how they depend on `a`."""
    figure, (left, middle, right) = panels(3)
    _draw(left, bounds, simulated, theorem_2)
    left.set_title("all bounds")
    left.set_ylabel("cumulative regret")
    _draw(middle, bounds, simulated, None)
    middle.set_title("without Theorem 2")
    for panel in (left, middle):
        panel.set_xscale("log")
        panel.set_xlabel("rounds n")
    left.legend(loc="center right" if theorem_2 else "upper left")
    _draw(right, against_a.curves, against_a.simulated, None)
    right.set_title(f"against a, after {against_a.rounds:,} rounds")
    right.set_xlabel("a, pseudo rewards of each kind per pull")
    right.set_yscale("linear")
    right.set_ylim(bottom=0)
    right.legend(loc="upper left")
    return figure


def _draw(panel: Axes, bounds: Sequence[Curve], simulated: Band, theorem_2: Curve | None) -> None:
    if theorem_2 is not None:
        panel.plot(theorem_2.x, theorem_2.y, label=theorem_2.label, **look(4))
    for curve in bounds:
        panel.plot(curve.x, curve.y, label=curve.label, **look(_LOOKS[curve.label]))
    panel.plot(simulated.x, simulated.mean, label=simulated.label, marker="o", ms=3, **look(0))
    if np.isfinite(simulated.low).all():
        low = np.maximum(simulated.low, 1e-3)  # a logarithmic axis has no 0
        panel.fill_between(
            np.asarray(simulated.x), low, np.asarray(simulated.high),
            color=look(0)["color"], alpha=0.18, linewidth=0,
        )  # fmt: skip
    panel.set_yscale("log")
    panel.margins(x=0.02)
