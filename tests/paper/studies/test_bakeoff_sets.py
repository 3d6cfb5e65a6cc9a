"""The list of the bake-off's sets, and how a table becomes one; the sets need not be there."""

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from giro import BadFile, Problem
from giro.paper.studies import _bakeoff_sets as sets

sys.path.append(str(Path(__file__).parents[3] / "scripts"))
import bakeoff_sets as script

NAMES = (*sets.PLAIN, *sets.GRADED)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two of the sets, of three rows each, seen from where we are."""
    monkeypatch.chdir(tmp_path)
    made = Path("made")
    made.mkdir()
    for name in ("income", "letter"):
        frame = pl.DataFrame({"x": [1.0, 2.0, 3.0], "class": [0, 1, 2]})
        frame.write_parquet(made / f"{name}.parquet")
    return made


def test_every_set_has_one_name_and_both_halves_are_filled() -> None:
    assert len(set(NAMES)) == len(NAMES) >= 24
    halves = [sets.half_of(name) for name in NAMES]
    assert min(halves.count("tuning"), halves.count("judging")) >= len(NAMES) / 3
    assert {sets.half_of(name) for name in sets.PAPER} == {"paper"}


def test_sets_that_are_there_are_listed_with_a_problem_that_can_be_played(folder: Path) -> None:
    letter, income = sets.sets_there(folder)
    assert (letter.name, letter.half, letter.rows, letter.rounds) == ("letter", "tuning", 3, 3)
    assert letter.small
    assert letter.problem == "classification:data=made/letter.parquet,label=class,scale=column"
    assert income.problem.endswith("graded=true")
    for one in (letter, income):
        assert Problem.parse(one.problem).text == one.problem


@pytest.mark.usefixtures("folder")
def test_a_run_is_not_longer_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sets, "MOST_ROUNDS", 2)
    assert {one.rounds for one in sets.sets_there(Path("made"))} == {2}


def test_without_any_set_the_error_says_how_to_make_them(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"python scripts/bakeoff_sets\.py"):
        sets.sets_there(tmp_path)


def test_the_papers_sets_are_always_there() -> None:
    assert [one.name for one in sets.paper_sets()] == ["statlog", "covertype", "adult"]
    for one in sets.paper_sets():
        assert Problem.parse(one.problem).text == one.problem
        assert one.rounds == 50_000


def test_sets_of_under_2000_rows_are_small() -> None:
    one = sets.BakeoffSet("letter", "tuning", 1_999, 1_999, "")
    assert (one.small, one._replace(rows=2_000).small) == (True, False)


def test_the_script_knows_how_to_make_every_set() -> None:
    assert set(script.RECIPES) == set(NAMES)
    assert all(name in sets.GRADED for name, recipe in script.RECIPES.items() if recipe.bins)


def test_a_measured_target_is_cut_into_ordered_classes_without_gaps() -> None:
    assert script.binned(np.array([5.0, 1.0, 9.0, 7.0, 3.0, 8.0]), 3).tolist() == [1, 0, 2, 1, 0, 2]
    visits = script.binned(np.array([0, 0, 0, 0, 0, 0, 1, 9]), 4)
    assert visits.tolist() == [0, 0, 0, 0, 0, 0, 1, 1]


def test_gaps_are_filled_and_two_words_become_numbers() -> None:
    frame = pl.DataFrame(
        {
            "size": [1.0, None, 5.0, 3.0],
            "kind": ["b", "a", None, "b"],
            "sex": ["m", "f", "f", "m"],
            "y": ["no", "yes", "yes", "no"],
        }
    )
    made = script.data_set(frame, script.Recipe("y"))
    assert made.to_dict(as_series=False) == {
        "x_size": [1.0, 3.0, 5.0, 3.0],
        "x_size_missing": [0, 1, 0, 0],
        "x_kind": ["b", "a", "missing", "b"],
        "x_sex": [1, 0, 0, 1],
        "class": ["no", "yes", "yes", "no"],
    }


def test_only_so_many_rows_are_kept_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "MOST_ROWS", 5)
    made = script.data_set(pl.DataFrame({"x": range(100), "y": [0] * 100}), script.Recipe("y"))
    assert made.height == 5
    assert made["x_x"].is_sorted() and made["x_x"].n_unique() == 5
