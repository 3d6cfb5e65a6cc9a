"""Studies: the tables that they leave behind, and what they print."""

import pytest
from simulation.traces import small_trace

from giro.paper.claims import Claim, beats, judge
from giro.paper.study import show_results, show_test, tables_of

GOOD, BAD = small_trace([[1, 2], [1, 3], [1, 2]]), small_trace([[9, 9], [9, 8], [8, 9]])
VERDICTS = judge([Claim("1", "good beats bad", [beats(GOOD, BAD)])])


def test_tables_hold_final_numbers_verdicts_and_the_comparisons_behind_them() -> None:
    tables = tables_of([GOOD, BAD], VERDICTS)
    assert {name: len(lines) for name, lines in tables.items()} == {
        "curves": 4,
        "finals": 2,
        "claims": 1,
        "comparisons": 1,
    }
    assert [line["regret"] for line in tables["finals"]] == pytest.approx([7 / 3, 26 / 3])
    assert tables["claims"][0]["verdict"] == "holds"


def test_curves_are_left_out_where_single_runs_are_kept() -> None:
    with_curves = tables_of([GOOD, BAD], VERDICTS)
    del with_curves["curves"]
    assert tables_of([GOOD, BAD], VERDICTS, curves=False) == with_curves


def test_results_are_printed_with_the_verdicts_if_there_are_any(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_results([GOOD], (), runs=3)
    without = capsys.readouterr().out
    show_results([GOOD], VERDICTS, runs=3)
    printed = capsys.readouterr().out
    assert printed.startswith(without)
    assert "good beats bad" in printed.removeprefix(without)


def test_the_level_is_printed_with_the_share_of_each_comparison(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_test(20)
    printed = " ".join(capsys.readouterr().out.split())
    assert "level 5%, shared equally by 20 comparisons (Bonferroni, 0.0025 each)" in printed
