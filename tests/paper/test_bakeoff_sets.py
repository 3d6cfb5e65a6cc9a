"""The list of the bake-off's sets, without the sets."""

from pathlib import Path

import polars as pl
import pytest

from giro import BadFile, Problem
from giro.paper.studies import _bakeoff_sets as sets

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
