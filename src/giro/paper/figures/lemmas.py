"""By how much the lemmas of the appendix hold, drawn against the number of trials."""

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.figure import Figure

from giro.paper.figures.panels import GREY, look, panels, styled


class Margins(NamedTuple):
    """The smallest, median and largest margin of a lemma for each number of trials."""

    claim: str
    unit: str
    trials: Sequence[int]
    low: Sequence[float]
    middle: Sequence[float]
    high: Sequence[float]


@styled
def lemmas_figure(margins: Sequence[Margins]) -> Figure:
    """Return a panel for each lemma; below 0 it would be violated."""
    figure, axes = panels(len(margins))
    for panel, lemma in zip(axes, margins, strict=True):
        panel.fill_between(
            lemma.trials, lemma.low, lemma.high,
            color=look(0)["color"], alpha=0.18, linewidth=0, label="all cases",
        )  # fmt: skip
        panel.plot(lemma.trials, lemma.middle, label="median", **look(1))
        panel.plot(lemma.trials, lemma.low, label="smallest", **look(0))
        panel.axhline(0, color=GREY, linewidth=0.8)
        if min(lemma.low) > 0 and max(lemma.high) > 20:
            panel.set_yscale("log")
        panel.margins(x=0)
        panel.set_xlabel("trials n")
        panel.set_ylabel(f"margin: {lemma.unit}")
        panel.set_title(lemma.claim)
    axes[0].legend(loc="center right")
    return figure
