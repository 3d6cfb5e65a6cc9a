"""Ranks of policies on many data sets, and what they earn on each."""

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from giro.plots.bakeoff import bakeoff_figure

RANKING = [
    {"library": "giro", "policy": "first", "mean_rank": 1.25},
    {"library": "other", "policy": "second " * 20, "mean_rank": 1.5},
    {"library": "giro", "policy": "third", "mean_rank": 3.0},
]
MEANS = {
    (("giro", "first"), "adult"): 0.5,
    (("other", "second " * 20), "adult"): 0.25,
    (("giro", "third"), "adult"): 0.4,
    (("giro", "first"), "statlog"): 0.6,
    (("giro", "third"), "statlog"): 0.8,
}


def test_ranks_are_bars_with_the_best_at_the_top_and_a_colour_for_each_library() -> None:
    figure = bakeoff_figure(RANKING, ["adult", "statlog"], MEANS)
    left, _ = figure.axes
    assert [bar.get_width() for bar in left.patches if isinstance(bar, Rectangle)] == [
        1.25,
        1.5,
        3.0,
    ]
    assert [text.get_text().strip() for text in left.texts] == ["1.2", "1.5", "3.0"]
    assert left.yaxis_inverted()
    first, second, third = (bar.get_facecolor() for bar in left.patches)
    assert first == third != second
    names = [label.get_text() for label in left.get_yticklabels()]
    assert names[::2] == ["first", "third"]
    assert len(names[1]) == 60
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["giro", "other"]


def test_rewards_are_shares_of_the_best_and_who_did_not_play_is_not_drawn() -> None:
    _, right = bakeoff_figure(RANKING, ["adult", "statlog"], MEANS).axes
    shares = [np.asarray(line.get_xdata())[0] for line in right.lines]
    assert shares == pytest.approx([0.8, 0.5, 1.0, 1.0, 0.75])
    assert [np.asarray(line.get_ydata())[0] for line in right.lines] == [0, 0, 0, 1, 1]
    assert [line.get_marker() for line in right.lines] == ["o", "o", "D", "o", "D"]
    assert [label.get_text() for label in right.get_yticklabels()] == ["adult", "statlog"]
