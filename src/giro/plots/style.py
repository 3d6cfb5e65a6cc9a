"""Style: the look of giro's figures, and how they are written to files."""

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import figure as plain
from matplotlib.artist import Artist

from giro.errors import BadParameter
from giro.files import write_whole

_FORMATS = ("png", "svg", "pdf")

# Okabe and Ito's colours without the yellow, which is hard to see on white paper. Each has its own
# dashes, so that seven curves differ even in grey. When colours repeat, the dashes shift.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1, 1.2)),
    (0, (6, 1.5, 1, 1.5)),
    (0, (11, 2)),
    (0, (6, 1.5, 1, 1.5, 1, 1.5)),
    (0, (2.5, 1.2)),
)

STYLE: Any = {  # Any: matplotlib's type lists every possible key
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


_HANDLE, _LETTER = 0.65, 0.068  # inches of a legend entry's line and of each letter
_LEGEND_ROW = 0.19  # inches


class Figure(plain.Figure):
    """A figure of matplotlib that a notebook shows by itself, also without pyplot."""

    def _repr_png_(self) -> tuple[bytes, dict[str, float]]:
        """Return the picture, and its size on the screen: half its dots, for sharp screens."""
        picture = io.BytesIO()
        with mpl.rc_context(STYLE):
            self.savefig(picture, format="png")
        width, height = self.get_size_inches() * STYLE["savefig.dpi"] / 2
        return picture.getvalue(), {"width": float(width), "height": float(height)}


def legend_below(figure: plain.Figure, handles: Sequence[Artist], names: Sequence[str]) -> None:
    """Write a legend below all panels, in rows as wide as the figure, which grows by them."""
    width, height = figure.get_size_inches()
    entry = _HANDLE + _LETTER * max(map(len, names))
    rows = math.ceil(len(names) / max(1, int(width / entry)))
    figure.set_size_inches(width, height + _LEGEND_ROW * rows)
    numbers = [str(i) for i in range(len(names))]  # names that begin with _ would be left out
    legend = figure.legend(
        list(handles),
        numbers,
        loc="outside lower center",
        ncols=math.ceil(len(names) / rows),
        frameon=False,
        handlelength=2.8,
    )
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(name)


def literal(text: str) -> str:
    """Return a text of which matplotlib shows every letter, also those of its formulas."""
    return text.replace("$", r"\$")


def save(figure: plain.Figure, path: Path, *, note: str | None = None) -> None:
    """Write the figure with `note` in its metadata. The same figure gives the same bytes."""
    kind = check_format(path)
    when_and_by_what = {"png": "Software", "svg": "Date", "pdf": "CreationDate"}
    says = {"png": "Description", "svg": "Description", "pdf": "Subject"}
    picture = io.BytesIO()
    with mpl.rc_context(STYLE):
        metadata = {when_and_by_what[kind]: None, **({says[kind]: note} if note else {})}
        figure.savefig(picture, format=kind, metadata=metadata)
    write_whole(path, [picture.getbuffer()])


def check_format(path: Path) -> str:
    """Return the format of a picture by its file name."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in _FORMATS:
        raise BadParameter(f"a picture is a .png, .svg or .pdf file, got '{path}'")
    return kind
