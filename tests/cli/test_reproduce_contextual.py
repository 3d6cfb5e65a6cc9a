"""`giro reproduce contextual`, `settings` and `offline`."""

from pathlib import Path

import polars as pl
import pytest
from cli.conftest import Giro

TINY = ("--only", "statlog", "--rounds", 40, "--runs", 2)


def test_work_is_done_piece_by_piece(giro: Giro, tmp_path: Path) -> None:
    folder = tmp_path / "there"
    first = giro("reproduce", "contextual", *TINY, "--policies", "lin-ucb", "--out", folder)
    assert first.status == 0
    assert pl.read_csv(folder / "finals.csv")["policy"].to_list() == ["lin-ucb"]
    second = giro(
        "reproduce", "contextual", *TINY, "--policies", "lin-ts,ucb1", "--out", folder, "--json"
    )
    finals = second.records["finals"]
    assert [final["policy"] for final in finals] == ["lin-ucb", "lin-ts", "ucb1"]
    assert all(final["runs"] == 2 and final["rounds"] == 40 for final in finals)
    assert pl.read_csv(folder / "finals.csv").height == 3
    assert {"reward.png", "reward.svg", "made-by.txt"} <= {p.name for p in folder.iterdir()}
    assert (
        (folder / "made-by.txt").read_text().startswith("giro reproduce contextual --scale quick")
    )
    assert "LinUCB" in (folder / "reward.svg").read_text()


def test_a_call_with_fewer_runs_forgets_none(giro: Giro, tmp_path: Path) -> None:
    words = ("--policies", "lin-ucb", "--out", tmp_path / "there")
    giro("reproduce", "contextual", *TINY, *words)
    fewer = giro("reproduce", "contextual", *TINY[:-1], 1, *words)
    assert fewer.status == 0
    assert pl.read_csv(tmp_path / "there" / "finals.csv")["runs"].to_list() == [2]


def test_verdicts_say_how_much_of_a_claim_was_played(giro: Giro, tmp_path: Path) -> None:
    words = ("--policies", "lin-ucb,lin-ts,ucb-glm", "--out", tmp_path / "there")
    done = giro("reproduce", "contextual", *TINY, *words)
    assert done.status == 0
    assert "(2 of 14 played)" in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("contextual", "--only", "mnist"), "no data set of the paper is called 'mnist'"),
        (("contextual", "--policies", "gyro"), "no policy is called 'gyro'"),
        (("contextual", "--runs", "-1"), "at least one run"),
        (("contextual", "--scale", "huge"), "'huge' is not one of"),
        (("settings", "--only", "mnist"), "no data set of the paper is called 'mnist'"),
        (("settings", "--fit", "newton"), "'newton' is not one of"),
        (("settings", "--contexts", "huge"), "'huge' is not one of"),
        (("offline", "--only", "mnist"), "no data set of the paper is called 'mnist'"),
        (("offline", "--splits", "0"), "at least one split"),
        (("offline", "--rows", "3"), "at least 10 rows"),
    ],
)
def test_what_is_asked_for_wrongly_is_refused_in_a_sentence(
    giro: Giro, tmp_path: Path, words: tuple[str, ...], complaint: str
) -> None:
    done = giro("reproduce", *words, "--out", tmp_path / "new")
    assert (done.status, done.out) == (2, "")
    assert complaint in done.error
