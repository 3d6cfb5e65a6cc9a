"""Numbers -> figure: curves that read well in print, in grey and for the colour-blind."""

import dataclasses
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from giro.errors import BadParameter
from giro.plots.style import COLOURS, DASHES, STYLE, Figure, legend_below
from giro.simulation.metrics import Curve, Metric, curve_of, usual_metric
from giro.simulation.trace import Setting, Trace

Scale: TypeAlias = Literal["linear", "log"]

_PANEL = (3.6, 2.7)  # inches
_FEWEST_RUNS = 3  # for which a band is drawn
_TITLE = 46  # letters in a line of a panel's title
_LIMIT: Any = {"color": "0.2", "linewidth": 1.0, "linestyle": (0, (1, 2.5))}


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
    metric: Metric | None = None,
    x: Scale = "linear",
    y: Scale = "linear",
    names: Mapping[str, str] | None = None,
    closer: bool = False,
    limits: Mapping[str, float] | None = None,
) -> Figure:
    """Return a figure with a panel for each problem and a curve for each policy.

    Bands are 95 % confidence intervals of the mean over runs. They are drawn for three or more
    runs: with two they would hide everything. A policy looks the same in every panel. Lines differ
    in colour and in dashes. `names` maps the texts of policies and problems to other labels, and
    panels then share their axis of regret. With `metric` "reward" a curve is the mean reward per
    round so far. The default is the usual metric of the problems: regret, unless all are
    classification. With rewards, `closer` shows only the range in which the better policies end,
    those that earn more than half as much as the best. `limits` are constants C by the text of the
    problem, for which a dotted line shows C log n.
    """
    if not traces:
        raise BadParameter("a figure needs at least one trace")
    metric = metric or usual_metric(traces)
    lines = _lines(traces, metric, names or {})
    looks = _looks(lines)
    problems = list(dict.fromkeys(line.problem for line in lines))
    handles = _handles(looks)
    limits = {(names or {}).get(text, text): limit for text, limit in (limits or {}).items()}
    if limits and metric == "regret":
        handles["limit"] = Line2D([], [], **_LIMIT)
    with mpl.rc_context(STYLE):
        figure = _empty_figure(len(problems))
        shared = bool(names) and metric == "regret"
        panels = figure.subplots(1, len(problems), squeeze=False, sharey=shared)[0]
        for panel, problem in zip(panels, problems, strict=True):
            panel_lines = [line for line in lines if line.problem == problem]
            _draw(panel, panel_lines, looks)
            if problem in limits and metric == "regret":
                rounds = panel_lines[0].curve.rounds
                panel.plot(rounds, limits[problem] * np.log(rounds), **_LIMIT)
            _finish(panel, problem, metric, x, y)
            if metric == "reward":
                _fit_to_curves(panel, panel_lines, closer)
        panels[0].set_ylabel("cumulative regret" if metric == "regret" else "reward per round")
        legend_below(figure, [*handles.values()], [*handles])
    return figure


class Beside(NamedTuple):
    """Curves to draw beside a trace."""

    bound: np.ndarray | None = None  # [point] after each checkpoint of the trace
    exact: np.ndarray | None = None  # [n] exact regret after rounds 1, 2, ...


def bound_figure(
    traces: Sequence[Trace], besides: Sequence[Beside], *, names: Mapping[str, str]
) -> Figure:
    """Return a figure of regret with its bounds and, below, of the first rounds with exact regret.

    A bound is a thin line in the colour of its curve. Exact regret is a row of dots.
    """
    lines = _lines(traces, "regret", names)
    looks = _looks(lines)
    problems = list(dict.fromkeys(line.problem for line in lines))
    thin, dot = Line2D([], [], color="0.3", linewidth=0.7), _dots([], [], color="0.3")
    handles = _handles(looks) | {"lower bound": thin, "exact": dot}
    with mpl.rc_context(STYLE):
        figure = _empty_figure(len(problems), n_rows=2)
        rows = figure.subplots(2, len(problems), squeeze=False)
        for (above, below), problem in zip(rows.T, problems, strict=True):
            members = [i for i, line in enumerate(lines) if line.problem == problem]
            for panel in (above, below):
                _draw(panel, [lines[i] for i in members], looks)
                for i in members:
                    if (bound := besides[i].bound) is not None:
                        color = looks[lines[i].label].color
                        panel.plot(lines[i].curve.rounds, bound, color=color, linewidth=0.7)
            _finish(above, problem, "regret", "linear", "linear")
            _show_first_rounds(below, [(lines[i], besides[i]) for i in members], looks)
        rows[0, 0].set_ylabel("cumulative regret")
        rows[1, 0].set_ylabel("the first rounds")
        legend_below(figure, [*handles.values()], [*handles])
    return figure


def _lines(traces: Sequence[Trace], metric: Metric, names: Mapping[str, str]) -> list[_Line]:
    """Return the curves to draw, as plain numbers."""
    differences, lines = _differences(traces), []
    for trace in traces:
        problem, curve = trace.setting.problem, curve_of(trace, metric)
        parts = [f"{name} {getattr(trace.setting, name)}" for name in differences]
        label = trace.setting.policy + (f" ({', '.join(parts)})" if parts else "")
        if trace.runs.size < _FEWEST_RUNS:
            no_band = np.full(curve.mean.shape, np.nan)
            curve = curve._replace(low=no_band, high=no_band)
        lines.append(_Line(names.get(label, label), names.get(problem, problem), curve))
    return lines


def _differences(traces: Sequence[Trace]) -> list[str]:
    """Return the fields of a setting that tell traces apart if a policy occurs twice."""
    cells = {(trace.setting.policy, trace.setting.problem) for trace in traces}
    if len(cells) == len(traces):
        return []
    names = [field.name for field in dataclasses.fields(Setting)]
    varied = [n for n in names if len({getattr(trace.setting, n) for trace in traces}) > 1]
    return [name for name in varied if name not in ("policy", "problem")]


def _looks(lines: Sequence[_Line]) -> dict[str, _Look]:
    """Return the look of each label, in order of appearance."""
    labels = dict.fromkeys(line.label for line in lines)
    n = len(COLOURS)
    return {
        label: _Look(COLOURS[i % n], DASHES[(i + i // n) % n]) for i, label in enumerate(labels)
    }


def _handles(looks: Mapping[str, _Look]) -> dict[str, Line2D]:
    return {label: Line2D([], [], **look._asdict()) for label, look in looks.items()}


def _empty_figure(n_panels: int, n_rows: int = 1) -> Figure:
    return Figure(figsize=(_PANEL[0] * n_panels, _PANEL[1] * n_rows), layout="constrained")


def _draw(panel: Axes, lines: Sequence[_Line], looks: dict[str, _Look]) -> None:
    """Draw the curves over their bands."""
    for line in lines:
        look, curve = looks[line.label], line.curve
        panel.plot(curve.rounds, curve.mean, **look._asdict())
        if np.isfinite(curve.low).all():
            panel.fill_between(
                curve.rounds, curve.low, curve.high, color=look.color, alpha=0.18, linewidth=0
            )


def _fit_to_curves(panel: Axes, lines: Sequence[_Line], closer: bool) -> None:
    """Cut off bands of the first rounds, which may be much wider than the gaps between curves."""
    ends = np.array([line.curve.mean[-1] for line in lines])
    all_means = np.concatenate([line.curve.mean for line in lines])
    shown = ends[ends > ends.max() / 2] if closer else all_means
    if (margin := 0.05 * np.ptp(shown)) > 0.0:
        panel.set_ylim(shown.min() - margin, shown.max() + margin)


def _show_first_rounds(
    panel: Axes, lines: Sequence[tuple[_Line, Beside]], looks: dict[str, _Look]
) -> None:
    """Narrow a panel to the rounds with known exact regret, and draw it."""
    highest, last = 0.0, 1
    for line, beside in lines:
        if beside.exact is not None:
            last = beside.exact.size
            highest = max(highest, float(beside.exact.max()))
            n = np.arange(1, last + 1)
            panel.add_line(_dots(n, beside.exact, color=looks[line.label].color))
    for line, _ in lines:
        highest = line.curve.mean[line.curve.rounds <= last].max(initial=highest)
    panel.set_xlim(1, last)
    panel.set_ylim(0, 1.05 * highest)
    panel.set_xlabel("round")


def _dots(x: Any, y: Any, *, color: str) -> Line2D:
    return Line2D(x, y, color=color, linestyle="none", marker="o", markersize=3.5, clip_on=False)


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
        textwrap.fill(re.sub(r",\s*", ", ", problem), _TITLE, max_lines=3, placeholder=" …")
    )
