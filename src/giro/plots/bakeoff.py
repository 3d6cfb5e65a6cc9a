"""Rewards and ranks of policies on many data sets."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from giro.plots.style import COLOURS, STYLE

_ROW = 0.19  # inches
_WIDEST = 60  # letters of a policy's name


def bakeoff_figure(
    ranking: Sequence[Mapping[str, Any]],
    sets: Sequence[str],
    means: Mapping[tuple[tuple[str, str], str], float],
) -> Figure:
    """Return a figure of mean ranks, and of rewards on each set relative to the best.

    `ranking` has library, policy and mean_rank, the best first. The first policy is drawn filled.
    `means` are rewards by (library, policy) and set.
    """
    libraries = list(dict.fromkeys(line["library"] for line in ranking))
    colour = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(libraries)}
    with mpl.rc_context(STYLE):
        height = 1.1 + _ROW * max(len(ranking), len(sets))
        figure = Figure(figsize=(10.5, height), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(1, 1.15))
        _draw_ranks(left, ranking, colour)
        _draw_rewards(right, ranking, sets, means, colour)
        handles = [
            Line2D([], [], marker="o", linestyle="", color=colour[name], label=name)
            for name in libraries
        ]
        figure.legend(
            handles=handles, loc="outside lower center", ncols=len(libraries), frameon=False
        )
    return figure


def _draw_ranks(
    axes: Axes, ranking: Sequence[Mapping[str, Any]], colour: Mapping[str, str]
) -> None:
    names = [str(line["policy"])[:_WIDEST] for line in ranking]
    places = range(len(ranking))
    axes.barh(
        places,
        [line["mean_rank"] for line in ranking],
        color=[colour[line["library"]] for line in ranking],
        alpha=0.85,
    )
    for place, line in zip(places, ranking, strict=True):
        axes.text(line["mean_rank"], place, f" {line['mean_rank']:.1f}", va="center", fontsize=7.5)
    axes.set_yticks(places, names, fontsize=7.5)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("mean rank (1 is best)")


def _draw_rewards(
    axes: Axes,
    ranking: Sequence[Mapping[str, Any]],
    sets: Sequence[str],
    means: Mapping[tuple[tuple[str, str], str], float],
    colour: Mapping[str, str],
) -> None:
    """Draw the rewards of all policies on each set, as shares of the highest."""
    for place, name in enumerate(sets):
        highest = max(value for (_, set_name), value in means.items() if set_name == name)
        for line in reversed(ranking):
            entrant = (line["library"], line["policy"])
            if (entrant, name) in means:
                first = line is ranking[0]
                axes.plot(
                    means[entrant, name] / highest,
                    place,
                    marker="D" if first else "o",
                    markersize=6.5 if first else 4,
                    color=colour[line["library"]] if first else "none",
                    markeredgecolor="black" if first else colour[line["library"]],
                    markeredgewidth=0.8,
                    linestyle="",
                )
    axes.set_yticks(range(len(sets)), sets, fontsize=7.5)
    axes.invert_yaxis()
    axes.set_xlim(left=0.5, right=1.01)
    axes.set_xlabel("reward, as a share of the best (below one half not shown)")
