"""History of a bandit -> figure: shares of the arms and mean rewards, as decisions went on."""

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.lines import Line2D

from giro.errors import BadParameter
from giro.plots.style import COLOURS, DASHES, STYLE, Figure, legend_below, literal
from giro.simulation.metrics import estimate

if TYPE_CHECKING:
    from giro.bandit.history import History

Along: TypeAlias = Literal["decisions", "time"]

_BLOCKS = 20  # of decisions or rewards, each with a mean
_PANEL = (3.6, 2.7)  # inches
_MOST = len(COLOURS) - 1  # arms with a line of their own; the last colour is that of all arms
_LONGEST = 30  # characters of an arm's name
_RARE = 0.1  # share of the decisions below which arms with lines are not worth a panel
_NARROWEST = 5.0  # inches
_OTHERS: Any = {"color": "0.6", "linestyle": "-"}
_ALL: Any = {"color": COLOURS[-1], "linestyle": "-", "linewidth": 1.0}


def history_figure(history: "History", *, x: Along = "decisions") -> Figure:
    """Return a figure of the arms' shares of the decisions, and of the rewards.

    See `Bandit.plot`. `x` is the number of the decision or its time.
    """
    if x not in ("decisions", "time"):
        raise BadParameter(f"x is decisions or time, got '{x}'")
    n = history.arm.size
    if n == 0:
        raise BadParameter("a figure needs at least one decision")
    at = np.arange(1.0, n + 1)
    if x == "time":
        at = history.time / 86_400.0  # days, as matplotlib counts them
    counts = np.bincount(history.arm, minlength=len(history.names))
    own = np.sort(np.argsort(-counts, kind="stable")[:_MOST])
    is_rewarded = bool(np.isfinite(history.reward).any())
    shows_shares = not is_rewarded or bool(counts[own].sum() >= _RARE * n)
    lines = _lines(history, own) if shows_shares else []
    with mpl.rc_context(STYLE):
        n_panels = shows_shares + is_rewarded
        size = (max(_NARROWEST, _PANEL[0] * n_panels), _PANEL[1])
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(1, n_panels, squeeze=False, sharex=True)[0]
        if shows_shares:
            _draw_shares(panels[0], at, lines)
        if is_rewarded:
            _draw_rewards(panels[-1], at, history.reward, lines)
        for panel in panels:
            _finish(panel, x)
        if lines:
            entries = [(line.name, line.look) for line in lines]
            entries += [("all arms", _ALL)] if is_rewarded else []
            handles = [Line2D([], [], **look) for _, look in entries]
            legend_below(figure, handles, [name for name, _ in entries])
    return figure


class _Drawn(NamedTuple):
    """An arm with a line, or all that have none together."""

    name: str
    is_own: np.ndarray  # [decision] whether it was chosen
    look: Any


def _lines(history: "History", own: np.ndarray) -> list[_Drawn]:
    lines = [
        _Drawn(_short(history.names[arm]), history.arm == arm, {"color": color, "linestyle": dash})
        for arm, color, dash in zip(own.tolist(), COLOURS, DASHES, strict=False)
    ]
    n_others = len(history.names) - own.size
    if n_others:
        is_other = ~np.isin(history.arm, own)
        lines.append(_Drawn(f"{n_others:,} other arms", is_other, _OTHERS))
    return lines


def _draw_shares(panel: Axes, at: np.ndarray, lines: list[_Drawn]) -> None:
    """Draw the share of each arm in each block of decisions."""
    blocks = np.array_split(np.arange(at.size), min(_BLOCKS, at.size))
    middles = [at[block].mean() for block in blocks]
    for _, is_own, look in lines:
        panel.plot(middles, [is_own[block].mean() for block in blocks], **_dotted(look, middles))
    panel.set_ylim(0, 1.02)
    panel.set_ylabel("share of decisions")


def _draw_rewards(panel: Axes, at: np.ndarray, reward: np.ndarray, lines: list[_Drawn]) -> None:
    """Draw mean rewards: of each arm in blocks of its own rewards, and of all with a band.

    All blocks have about as many rewards, so that all points are as sure. An arm with less than
    half a block has no line.
    """
    rewarded = np.flatnonzero(np.isfinite(reward))
    size = max(1.0, rewarded.size / _BLOCKS)
    for _, is_own, look in lines:
        own = rewarded[is_own[rewarded]]
        if n_blocks := min(own.size, round(own.size / size)):
            blocks = np.array_split(own, n_blocks)
            middles = [at[block].mean() for block in blocks]
            means = [reward[block].mean() for block in blocks]
            panel.plot(middles, means, **_dotted(look, middles))
    blocks = np.array_split(rewarded, min(_BLOCKS, rewarded.size))
    middles = [at[block].mean() for block in blocks]
    means = [estimate(reward[block]) for block in blocks]
    panel.plot(middles, [mean.mean for mean in means], **_dotted(_ALL, middles))
    low, high = [mean.low for mean in means], [mean.high for mean in means]
    panel.fill_between(middles, low, high, color=_ALL["color"], alpha=0.12, linewidth=0)
    panel.set_ylabel("mean reward")


def _dotted(look: Any, points: list[Any]) -> Any:
    """Return a look that shows a single point, which a line does not."""
    return look if len(points) > 1 else {**look, "marker": "o", "markersize": 4.0}


def _finish(panel: Axes, x: Along) -> None:
    if x == "time":
        locator: Any = AutoDateLocator(maxticks=6)  # type: ignore[no-untyped-call]  # of matplotlib
        panel.xaxis.set_major_locator(locator)
        dates: Any = ConciseDateFormatter(locator)  # type: ignore[no-untyped-call]  # likewise
        panel.xaxis.set_major_formatter(dates)
        panel.set_xlabel("time (UTC)")
    else:
        panel.set_xlim(left=0)
        panel.set_xlabel("decisions")


def _short(name: str) -> str:
    return literal(name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…")
