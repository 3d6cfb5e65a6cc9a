"""Figures: regret by round with its bounds, histories of bandits, estimates with intervals."""

from giro.errors import needs_extra

with needs_extra("a figure", "matplotlib", extra="plots"):
    import matplotlib as _  # noqa: F401  # all modules here use it

from giro.plots.bandit import history_figure
from giro.plots.evaluation import forest_figure
from giro.plots.regret import Beside, bound_figure, regret_figure
from giro.plots.style import COLOURS, DASHES, STYLE, check_format, save

__all__ = [
    "COLOURS",
    "DASHES",
    "STYLE",
    "Beside",
    "bound_figure",
    "check_format",
    "forest_figure",
    "history_figure",
    "regret_figure",
    "save",
]
