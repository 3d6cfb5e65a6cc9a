"""Tables that fit and lose nothing."""

import math
import re

import pytest

from giro.tables import Column, decimals_for, fixed, table_html, table_text

COLUMNS = [Column("policy", words=True), Column("regret"), Column("margin", "±95%")]


ROWS = [
    {"policy": "a policy with a rather long name", "regret": 12345.6, "margin": 7.8},
    {"policy": "ucb1", "regret": 9.0, "margin": 0.1},
]


def test_a_table_is_aligned_and_not_decorated() -> None:
    assert table_text(COLUMNS, ROWS, width=100).splitlines() == [
        "policy                              regret   ±95%",
        "a policy with a rather long name   12345.6    7.8",
        "ucb1                                   9.0    0.1",
    ]


def test_words_are_folded_to_fit_and_numbers_are_not() -> None:
    assert table_text(COLUMNS, ROWS, width=40).splitlines() == [
        "policy                     regret   ±95%",
        "a policy with a rather    12345.6    7.8",
        "long name",
        "ucb1                          9.0    0.1",
    ]


@pytest.mark.parametrize("width", [1, 10, 20, 30])
def test_numbers_survive_the_narrowest_terminal(width: int) -> None:
    words = table_text(COLUMNS, ROWS, width=width).split()
    assert {"12345.6", "7.8", "9.0", "0.1", "regret", "±95%"} <= set(words)


def test_a_narrow_terminal_goes_without_what_is_optional() -> None:
    columns = [*COLUMNS, Column("best", optional=True), Column("speed", optional=True)]
    records = [{**row, "best": "50%", "speed": 123456} for row in ROWS]
    titles = [table_text(columns, records, width=w).split("\n")[0].split() for w in (70, 45, 36)]
    assert titles[0] == ["policy", "regret", "±95%", "best", "speed"]
    assert titles[1] == ["policy", "regret", "±95%", "best"]
    assert titles[2] == ["policy", "regret", "±95%"]


def test_brackets_are_not_taken_for_markup() -> None:
    assert "means=[0.5]" in table_text([Column("problem")], [{"problem": "means=[0.5]"}])


def test_decimals_show_two_digits_of_the_uncertainty() -> None:
    assert decimals_for([12.0, 150.0]) == 0
    assert decimals_for([math.nan]) == 1
    assert decimals_for([0.0]) == 1
    assert decimals_for([1e-9]) == 4
    assert (fixed(2)(3.14159), fixed(2)(math.nan)) == ("3.14", "-")


def test_a_table_for_notebooks_is_escaped_and_aligned() -> None:
    columns = [Column("a", "<a>"), Column("n", show="{:.1f}".format), Column("share")]
    rows = [{"a": "<b>", "n": 1.0, "share": 0.25}, {"a": "&", "n": 2.0, "share": 0.75}]
    page = table_html(columns, rows, heading="<h>", notes=["", "<n>"], bar="share")
    assert not re.search(r"<(a|b|h|n)>", page)
    for text in ("&lt;a&gt;", "&lt;b&gt;", "&amp;", "&lt;h&gt;", "<div>&lt;n&gt;</div>"):
        assert text in page
    assert page.count("text-align: left") == 3
    assert page.count("text-align: right") == 6
    assert [*re.findall(r"transparent (\S+)\)", page)] == ["25.0%", "75.0%"]


def test_a_table_is_returned_in_a_notebook_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rich would show it, were it asked for nothing else."""
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert table_text(COLUMNS, ROWS).startswith("policy")
