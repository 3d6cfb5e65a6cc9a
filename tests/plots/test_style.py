"""What figures look like, and the files they may be written to."""

import io
from itertools import combinations
from pathlib import Path

import matplotlib.colors
import matplotlib.image
import numpy as np
import pytest
from simulation.traces import small_trace

from giro import BadParameter
from giro.plots import check_format, regret_figure


def test_seven_curves_differ_in_grey_and_49_in_colour_or_dashes() -> None:
    figure = regret_figure([small_trace(policy=f"policy {i}") for i in range(49)])
    looks = [(line.get_color(), str(vars(line)["_dash_pattern"])) for line in figure.axes[0].lines]
    assert len(set(looks)) == 49
    assert len({dashes for _, dashes in looks[:7]}) == 7


def test_colours_stand_out_from_white_paper() -> None:
    figure = regret_figure([small_trace(policy=f"policy {i}") for i in range(7)])
    colours = [matplotlib.colors.to_rgb(line.get_color()) for line in figure.axes[0].lines]
    for red, green, blue in colours:
        assert 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.75
    for first, second in combinations(colours, 2):
        assert np.linalg.norm(np.subtract(first, second)) > 0.25


@pytest.mark.parametrize("name", ["regret.gif", "regret", "regret.png.txt", ".png"])
def test_other_formats_are_refused(name: str) -> None:
    with pytest.raises(BadParameter, match=r"a picture is a \.png, \.svg or \.pdf file"):
        check_format(Path(name))


def test_a_notebook_shows_a_figure_by_itself_at_half_its_dots() -> None:
    picture, size = regret_figure([small_trace()])._repr_png_()
    height, width, _ = matplotlib.image.imread(io.BytesIO(picture)).shape
    assert (width, height) == (int(2 * size["width"]), int(2 * size["height"]))
