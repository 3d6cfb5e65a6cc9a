"""The forest plot of an evaluation."""

import numpy as np
import pytest
from evaluation.known_log import contextual_log, target

from giro import BadParameter, evaluate
from giro.evaluation.result import Evaluation, joined
from giro.plots.evaluation import forest_figure


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    log = contextual_log(0, 0, events=300)
    return joined([evaluate(log, "logged"), evaluate(log, target), evaluate(log, "always:a")])


def test_the_forest_shows_every_estimate_with_its_interval(evaluation: Evaluation) -> None:
    (panel,) = forest_figure(evaluation).axes
    intervals, values = panel.lines[::2], panel.lines[1::2]
    assert [np.asarray(line.get_xdata()).tolist() for line in intervals] == [
        [row.low, row.high] for row in evaluation.rows
    ]
    assert [np.asarray(line.get_xdata())[0] for line in values] == [
        row.value for row in evaluation.rows
    ]
    assert [label.get_text() for label in panel.get_yticklabels()] == [
        "logged",
        "target",
        "always:a",
    ]
    assert len({np.asarray(line.get_ydata())[0] for line in values}) == 9


def test_nothing_known_cannot_be_drawn(evaluation: Evaluation) -> None:
    unknown = [row._replace(value=np.nan) for row in evaluation.rows]
    with pytest.raises(BadParameter, match="at least one known estimate"):
        forest_figure(Evaluation(tuple(unknown), 0.95, 300, 0))


def test_names_of_policies_are_shown_letter_by_letter(evaluation: Evaluation) -> None:
    rows = [row._replace(policy="always:$\\undefined$") for row in evaluation.rows]
    figure = forest_figure(Evaluation(tuple(rows), 0.95, 300, 0))
    assert figure._repr_png_()[0].startswith(b"\x89PNG")
