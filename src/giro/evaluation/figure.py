"""Evaluation -> forest plot: every estimate with its interval, one row each."""

import itertools
import math

from giro.errors import BadParameter, needs_extra
from giro.evaluation.result import Evaluation, Row
from giro.figure_style import COLOURS, STYLE

with needs_extra("a figure", "matplotlib", extra="plots"):
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_WIDTH, _ROW, _EDGES = 5.6, 0.24, 0.9  # inches
_MARKERS = "osD^vPX"


def forest_figure(evaluation: Evaluation) -> Figure:
    """Return a figure with a row for each estimate, grouped by policy.

    An estimator has the same colour and marker under every policy; estimates that are not known
    are left blank.
    """
    if not any(math.isfinite(row.value) for row in evaluation.rows):
        raise BadParameter("a figure needs at least one estimate that is known")
    groups = [list(rows) for _, rows in itertools.groupby(evaluation.rows, lambda row: row.policy)]
    names = list(dict.fromkeys(row.estimator for row in evaluation.rows))
    looks = {name: (COLOURS[i % 7], _MARKERS[i % 7]) for i, name in enumerate(names)}
    height = _EDGES + _ROW * (len(evaluation.rows) + len(groups))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        panel = figure.subplots()
        _draw(panel, groups, looks)
        panel.set_xlabel(f"reward per event, with {100 * evaluation.level:g} % intervals")
        handles = [_handle(*look) for look in looks.values()]
        figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
    return figure


def _draw(panel: Axes, groups: list[list[Row]], looks: dict[str, tuple[str, str]]) -> None:
    place, middles = 0.0, []
    for rows in groups:
        middles.append(place + (len(rows) - 1) / 2)
        for row in rows:
            color, marker = looks[row.estimator]
            panel.plot([row.low, row.high], [place, place], color=color, linewidth=1.5)
            panel.plot([row.value], [place], color=color, marker=marker, markersize=4.5)
            place += 1
        place += 1
    panel.set_yticks(middles, [rows[0].policy for rows in groups])
    panel.set_ylim(place - 1, -1)
    panel.grid(axis="y", visible=False)
    panel.tick_params(axis="y", length=0)


def _handle(color: str, marker: str) -> Line2D:
    return Line2D([], [], color=color, marker=marker, markersize=4.5, linewidth=1.5)
