"""Numbers -> figure: curves that read well in print, in grey and for the colour-blind."""

import dataclasses
import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from giro.errors import BadParameter
from giro.simulation.metrics import Curve, regret_curve, reward_curve
from giro.simulation.trace import Setting, Trace

Scale: TypeAlias = Literal["linear", "log"]
Metric: TypeAlias = Literal["regret", "reward"]

_FORMATS = ("png", "svg", "pdf")
_PANEL = (3.6, 2.7)  # inches
_LEGEND_ROW = 0.19  # inches
_HANDLE, _LETTER = 0.65, 0.068  # inches of a legend entry's line and of each letter
_TITLE = 46  # letters in a line of a panel's title

# Okabe and Ito's colours without the yellow, which white paper swallows, each with dashes of its
# own: seven curves differ even in grey, and the dashes shift before a colour comes again.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1, 1.2)),
    (0, (6, 1.5, 1, 1.5)),
    (0, (11, 2)),
    (0, (6, 1.5, 1, 1.5, 1, 1.5)),
    (0, (2.5, 1.2)),
)

_STYLE: Any = {  # Any: matplotlib's type for it lists every key there is
    "font.size": 9,
    "axes.titlesize": 9,
    "legend.fontsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "grid.color": "0.9",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.5,
    "savefig.dpi": 200,
    "svg.hashsalt": "giro",  # same numbers, same file
    "pdf.fonttype": 42,  # text that journals accept and that can be searched
}


class _Line(NamedTuple):
    label: str
    problem: str
    curve: Curve


class _Look(NamedTuple):
    color: str
    linestyle: Any


def regret_figure(
    traces: Sequence[Trace],
    *,
    metric: Metric = "regret",
    x: Scale = "linear",
    y: Scale = "linear",
) -> Figure:
    """Return a figure with a panel for each problem and a curve for each policy.

    Bands are 95 % confidence intervals of the mean over runs. A policy looks the same in every
    panel; its line differs from the others in colour and in dashes.
    """
    if not traces:
        raise BadParameter("a figure needs at least one trace")
    lines = _lines(traces, metric)
    looks = _looks(lines)
    problems = list(dict.fromkeys(line.problem for line in lines))
    with mpl.rc_context(_STYLE):
        figure, columns = _empty_figure(len(problems), list(looks))
        panels = figure.subplots(1, len(problems), squeeze=False)[0]
        for panel, problem in zip(panels, problems, strict=True):
            _draw(panel, [line for line in lines if line.problem == problem], looks)
            _finish(panel, problem, metric, x, y)
        panels[0].set_ylabel("cumulative regret" if metric == "regret" else "reward per round")
        figure.legend(
            [Line2D([], [], **look._asdict()) for look in looks.values()],
            list(looks),
            loc="outside lower center",
            ncols=columns,
            frameon=False,
            handlelength=2.8,
        )
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write the figure; the same figure gives the same bytes."""
    kind = check_format(path)
    when_and_by_what = {"png": "Software", "svg": "Date", "pdf": "CreationDate"}
    path.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(_STYLE):
        figure.savefig(path, format=kind, metadata={when_and_by_what[kind]: None})


def check_format(path: Path) -> str:
    """Return the format that a file's name ends with."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in _FORMATS:
        raise BadParameter(f"a picture is a .png, .svg or .pdf file, got '{path}'")
    return kind


def _lines(traces: Sequence[Trace], metric: Metric) -> list[_Line]:
    """Return what is to be drawn, as plain numbers."""
    curve_of = regret_curve if metric == "regret" else reward_curve
    differences = _differences(traces)
    return [
        _Line(_label(trace, differences), trace.setting.problem, curve_of(trace))
        for trace in traces
    ]


def _differences(traces: Sequence[Trace]) -> list[str]:
    """Return what tells traces apart when some policy occurs twice on the same problem."""
    cells = {(trace.setting.policy, trace.setting.problem) for trace in traces}
    if len(cells) == len(traces):
        return []
    names = [field.name for field in dataclasses.fields(Setting)]
    varied = [n for n in names if len({getattr(trace.setting, n) for trace in traces}) > 1]
    return [name for name in varied if name not in ("policy", "problem")]


def _label(trace: Trace, differences: Sequence[str]) -> str:
    parts = [f"{name} {getattr(trace.setting, name)}" for name in differences]
    return trace.setting.policy + (f" ({', '.join(parts)})" if parts else "")


def _looks(lines: Sequence[_Line]) -> dict[str, _Look]:
    """Return the look of each label, in the order in which they come."""
    labels = dict.fromkeys(line.label for line in lines)
    n = len(_COLOURS)
    return {
        label: _Look(_COLOURS[i % n], _DASHES[(i + i // n) % n]) for i, label in enumerate(labels)
    }


def _empty_figure(n_panels: int, labels: Sequence[str]) -> tuple[Figure, int]:
    """Return a figure with room for panels and legend, and the columns of the legend."""
    width = _PANEL[0] * n_panels
    entry = _HANDLE + _LETTER * max(map(len, labels))
    rows = math.ceil(len(labels) / max(1, int(width / entry)))
    size = (width, _PANEL[1] + _LEGEND_ROW * rows)
    return Figure(figsize=size, layout="constrained"), math.ceil(len(labels) / rows)


def _draw(panel: Axes, lines: Sequence[_Line], looks: dict[str, _Look]) -> None:
    """Draw the curves over their bands."""
    for line in lines:
        look, curve = looks[line.label], line.curve
        panel.plot(curve.rounds, curve.mean, **look._asdict())
        if np.isfinite(curve.low).all():
            panel.fill_between(
                curve.rounds, curve.low, curve.high, color=look.color, alpha=0.18, linewidth=0
            )


def _finish(panel: Axes, problem: str, metric: Metric, x: Scale, y: Scale) -> None:
    """Set scales, limits and titles."""
    panel.set_xscale(x)
    panel.set_yscale(y)
    panel.margins(x=0.0)
    if x == "linear":
        panel.set_xlim(left=0)
        panel.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        panel.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    if metric == "regret" and y == "linear":
        panel.set_ylim(bottom=0)
        panel.yaxis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
    panel.set_xlabel("round")
    panel.set_title(
        textwrap.fill(problem.replace(",", ", "), _TITLE, max_lines=3, placeholder=" …")
    )
