"""What an evaluation shows: a table, records, a figure."""

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


def test_the_table_is_aligned_and_shows_every_number(evaluation: Evaluation) -> None:
    lines = str(evaluation).splitlines()
    assert lines[0] == "events   300"
    assert lines[1] == "level    0.95"
    titles = lines[3].split()
    assert titles == "policy estimator value se low high events effective note".split()
    assert len(lines) == 4 + 9
    assert [line.split()[1] for line in lines[4:]] == ["ips", "snips", "dr"] * 3
    assert {line.index(".") for line in lines[4:]} == {lines[4].index(".")}


def test_numbers_have_two_digits_of_their_uncertainty(evaluation: Evaluation) -> None:
    smallest = min(row.se for row in evaluation.rows)
    shown = evaluation.columns()[3].show(evaluation.rows[0].se)
    assert abs(float(shown) - evaluation.rows[0].se) <= smallest / 10


def test_the_frame_has_a_row_for_each_estimate(evaluation: Evaluation) -> None:
    frame = evaluation.to_frame()
    assert frame.height == 9
    assert frame["policy"].unique(maintain_order=True).to_list() == ["logged", "target", "always:a"]
    assert frame["value"].to_list() == [row.value for row in evaluation.rows]
    assert (frame["low"] < frame["value"]).all() and (frame["value"] < frame["high"]).all()


def test_a_row_is_found_by_its_estimator(evaluation: Evaluation) -> None:
    assert evaluation["dr"] == evaluation.rows[2]
    with pytest.raises(BadParameter, match="has no 'replay', but ips, snips, dr"):
        evaluation["replay"]


def test_estimators_come_in_the_order_asked_for() -> None:
    log = contextual_log(0, 0, events=50)
    asked = ("rejection-replay", "dr", "ips")
    assert [row.estimator for row in evaluate(log, "logged", estimators=asked).rows] == list(asked)


def test_the_same_seed_gives_the_same_numbers_and_another_one_others() -> None:
    log = contextual_log(0, 0, events=50)

    def rows(seed: int) -> object:
        return evaluate(log, "uniform", votes=10, interval="bootstrap", seed=seed).rows

    assert rows(3) == rows(3)
    assert evaluate(log, target, interval="bootstrap", seed=3) != evaluate(
        log, target, interval="bootstrap", seed=4
    )


def test_the_forest_shows_every_estimate_with_its_interval(evaluation: Evaluation) -> None:
    (panel,) = forest_figure(evaluation).axes
    intervals, values = panel.lines[::2], panel.lines[1::2]
    assert [list(line.get_xdata()) for line in intervals] == [
        [row.low, row.high] for row in evaluation.rows
    ]
    assert [line.get_xdata()[0] for line in values] == [row.value for row in evaluation.rows]
    assert [label.get_text() for label in panel.get_yticklabels()] == [
        "logged",
        "target",
        "always:a",
    ]
    assert len({line.get_ydata()[0] for line in values}) == 9


def test_nothing_known_cannot_be_drawn(evaluation: Evaluation) -> None:
    unknown = [row._replace(value=np.nan) for row in evaluation.rows]
    with pytest.raises(BadParameter, match="at least one estimate that is known"):
        forest_figure(Evaluation(tuple(unknown), 0.95, 300, 0))
