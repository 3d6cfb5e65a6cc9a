"""What an evaluation shows: a table, and records."""

import pytest
from evaluation.known_log import contextual_log, target

from giro import BadParameter, evaluate
from giro.evaluation.result import Evaluation, joined


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


def test_notebooks_and_consoles_show_the_table(evaluation: Evaluation) -> None:
    assert repr(evaluation) == str(evaluation)
    page = evaluation._repr_html_()
    assert "events 300, level 0.95" in page
    assert page.count("<tr>") == 1 + 9
    for row in evaluation.rows:
        assert evaluation.columns()[2].show(row.value) in page


def test_an_evaluation_draws_all_its_estimates(evaluation: Evaluation) -> None:
    (panel,) = evaluation.plot().axes
    assert len(panel.lines) == 2 * len(evaluation.rows)
