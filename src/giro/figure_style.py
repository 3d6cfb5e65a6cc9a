"""What figures of giro look like."""

from typing import Any

# Okabe and Ito's colours without the yellow, which white paper swallows, each with dashes of its
# own: seven curves differ even in grey, and the dashes shift before a colour comes again.
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

STYLE: Any = {  # Any: matplotlib's type for it lists every key there is
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
