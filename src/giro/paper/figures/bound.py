"""Theorem 2 drawn: its bound against `a` and against the rounds."""

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from giro.paper.figures.panels import GREY, Curve, log10, look, panels, powers_of_ten, styled

_HIGHEST = 40  # powers of ten shown; the bound has no end as `a` nears 1 / sqrt(2)


class AgainstA(NamedTuple):
    """The bound for many `a`; all y are natural logarithms."""

    bound: Curve
    cheapest: tuple[float, float]
    log_trivial: float
    rounds: int


@styled
def bound_figure(against_a: AgainstA, against_rounds: Sequence[Curve], trivial: Curve) -> Figure:
    """Return the bound against `a`, and against the rounds for a few `a`, in powers of ten."""
    figure, (left, right) = panels(2)
    _draw_against_a(left, against_a)
    _draw_against_rounds(right, against_rounds, trivial)
    return figure


def _draw_against_a(panel: Axes, numbers: AgainstA) -> None:
    panel.plot(numbers.bound.x, log10(numbers.bound.y), label=numbers.bound.label, **look(0))
    a, log = numbers.cheapest
    panel.plot([a], log10([log]), "o", color=look(0)["color"], markersize=4.5)
    label = f"smallest at a = {a:.2f}"
    panel.annotate(label, (a, float(log10(log))), (0, 9), textcoords="offset points", ha="center")
    panel.axhline(float(log10(numbers.log_trivial)), label="n times largest gap", **look(1))
    panel.axvline(0.5**0.5, color=GREY, linewidth=0.8)
    panel.set_xscale("log")
    ticks = {0.5**0.5: r"$1/\sqrt{2}$"} | {a: str(a) for a in (1, 2, 3, 5, 10, 20, 50)}
    panel.set_xticks(list(ticks), list(ticks.values()))
    panel.minorticks_off()
    panel.set_xlim(0.6, 50)
    panel.set_ylim(0, _HIGHEST)
    powers_of_ten(panel)
    panel.set_xlabel("a, pseudo rewards of each kind per pull")
    panel.set_ylabel("bound on the regret")
    panel.set_title(f"after n = {numbers.rounds:,} rounds")
    panel.legend(loc="upper right")


def _draw_against_rounds(panel: Axes, curves: Sequence[Curve], trivial: Curve) -> None:
    for i, curve in enumerate(curves):
        panel.plot(curve.x, log10(curve.y), label=curve.label, **look(i if i == 0 else i + 1))
    panel.plot(trivial.x, log10(trivial.y), label=trivial.label, **look(1))
    panel.set_xscale("log")
    panel.margins(x=0)
    panel.set_ylim(bottom=0, top=1.5 * max(float(log10(c.y).max()) for c in [*curves, trivial]))
    powers_of_ten(panel)
    panel.set_xlabel("rounds n")
    panel.set_title("Theorem 2 against the rounds")
    panel.legend(loc="upper left", ncols=2)
