"""Curves of times as CSV, and a figure of those that a page shows."""

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from giro.plots.style import COLOURS, STYLE

MARKERS = "os^D"  # beside the colours, so that lines differ in grey too
TIME = "processor time per round (µs)"


class Curve(NamedTuple):
    """Time per round along one line."""

    label: str
    x: np.ndarray
    ns: np.ndarray


def keep_curves(path: Path, curves: Sequence[Curve], *, x: str) -> None:
    """Write curves named as `path` into curves.csv beside it, in the place of those it had."""
    name, path = path.stem, path.with_name("curves.csv")
    path.parent.mkdir(parents=True, exist_ok=True)
    others = []
    if path.exists():
        with path.open(newline="") as file:
            others = [row for row in csv.reader(file) if row[0] not in ("figure", name)]
    mine = [
        [name, curve.label, x, f"{u:.6g}", f"{v:.4g}"]
        for curve in curves
        for u, v in zip(curve.x, curve.ns / 1e3, strict=True)
    ]
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["figure", "line", "against", "at", TIME])
        writer.writerows(sorted([*others, *mine], key=lambda row: row[0]))


def loglog(path: Path, curves: Sequence[Curve], *, x: str, title: str) -> None:
    """Write `path`.png, and its numbers as `keep_curves` does."""
    keep_curves(path, curves, x=x)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4.8, 3.5), layout="constrained")
        panel = figure.subplots()
        for curve, colour, marker in zip(curves, COLOURS, MARKERS, strict=False):
            line = panel.loglog(curve.x, curve.ns / 1e3, color=colour, marker=marker, markersize=4)
            line[0].set_label(curve.label)
        panel.set(xlabel=x, ylabel=TIME, title=title)
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
            axis.set_minor_formatter(NullFormatter())
        panel.set_ylim(10.0 ** math.floor(math.log10(panel.get_ylim()[0])), None)
        figure.legend(loc="outside lower center", ncols=2, frameon=False)
        figure.savefig(path.with_suffix(".png"), metadata={"Software": None})
