"""Style: the look of giro's figures, and how they are written to files."""

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

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


def save(figure: Figure, path: Path, *, note: str | None = None) -> None:
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
