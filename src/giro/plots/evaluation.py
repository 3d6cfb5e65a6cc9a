"""Evaluation -> forest plot: every estimate with its interval, one row each."""

import itertools
import math
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from giro.errors import BadParameter
from giro.plots.style import COLOURS, STYLE, Figure, literal

if TYPE_CHECKING:
    from giro.evaluation.result import Evaluation, Row

_WIDTH, _ROW, _EDGES = 5.6, 0.24, 0.9  # inches
_MARKERS = "osD^vPX"


def forest_figure(evaluation: "Evaluation") -> Figure:
    """Return a figure with a row for each estimate, grouped by policy.

    An estimator has the same colour and marker under every policy. Unknown estimates are left
    blank.
    """
    if not any(math.isfinite(row.value) for row in evaluation.rows):
        raise BadParameter("a figure needs at least one known estimate")
    groups = [list(rows) for _, rows in itertools.groupby(evaluation.rows, lambda row: row.policy)]
    names = list(dict.fromkeys(row.estimator for row in evaluation.rows))
    looks = {name: (COLOURS[i % 7], _MARKERS[i % 7]) for i, name in enumerate(names)}
    height = _EDGES + _ROW * (len(evaluation.rows) + len(groups))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        panel = figure.subplots()
        _draw(panel, groups, looks)
        panel.set_xlabel(f"reward per event, with {100 * evaluation.level:g} % intervals")
        handles = [
            Line2D([], [], color=color, marker=marker, markersize=4.5, linewidth=1.5)
            for color, marker in looks.values()
        ]
        figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
    return figure


def _draw(panel: Axes, groups: "list[list[Row]]", looks: dict[str, tuple[str, str]]) -> None:
    position, middles = 0.0, []
    for rows in groups:
        middles.append(position + (len(rows) - 1) / 2)
        for row in rows:
            color, marker = looks[row.estimator]
            panel.plot([row.low, row.high], [position, position], color=color, linewidth=1.5)
            panel.plot([row.value], [position], color=color, marker=marker, markersize=4.5)
            position += 1
        position += 1
    panel.set_yticks(middles, [literal(rows[0].policy) for rows in groups])
    panel.set_ylim(position - 1, -1)
    panel.grid(axis="y", visible=False)
    panel.tick_params(axis="y", length=0)
