"""`giro reproduce contextual`, `settings` and `offline`."""

from functools import partial
from pathlib import Path

import polars as pl
import pytest
from cli.conftest import Giro

from giro.paper.studies import contextual
from giro.seeds import stream
from giro.simulation import play
from giro.simulation.trace import load_traces

read_csv = partial(pl.read_csv, comment_prefix="#")

TINY = ("--only", "statlog", "--rounds", 40, "--runs", 2)


def test_work_is_done_piece_by_piece(giro: Giro, tmp_path: Path) -> None:
    folder = tmp_path / "there"
    first = giro("reproduce", "contextual", *TINY, "--policies", "lin-ucb", "--out", folder)
    assert first.status == 0
    assert read_csv(folder / "finals.csv")["policy"].to_list() == ["lin-ucb"]
    second = giro(
        "reproduce", "contextual", *TINY, "--policies", "lin-ts,ucb1", "--out", folder, "--json"
    )
    finals = second.records["finals"]
    assert [final["policy"] for final in finals] == ["lin-ucb", "lin-ts", "ucb1"]
    assert all(final["runs"] == 2 and final["rounds"] == 40 for final in finals)
    assert read_csv(folder / "finals.csv").height == 3
    assert {"reward.png", "reward-closer.png", "beyond.png"} <= {p.name for p in folder.iterdir()}
    made_by = (folder / "finals.csv").read_text().splitlines()[0]
    assert made_by.startswith("# giro reproduce contextual --scale quick")
    assert " --with ucb1 (giro " in made_by
    assert contextual.figure_names(contextual.Setup())[contextual.LIN_UCB] == "LinUCB"


def test_a_policy_of_ones_own_stands_beside_the_others(giro: Giro, tmp_path: Path) -> None:
    words = ("--policies", "lin-ucb", "--with", "ucb1", "--out", tmp_path / "there")
    first = giro("reproduce", "contextual", "--only", "statlog,adult", *TINY[2:], *words)
    assert first.out.count("problem  classification:data=") == 2  # a heading each
    finals = read_csv(tmp_path / "there" / "finals.csv")
    assert finals["policy"].to_list() == ["lin-ucb", "ucb1"] * 2


def test_a_table_of_before_is_not_left_beside_those_of_now(giro: Giro, tmp_path: Path) -> None:
    words = ("reproduce", "contextual", *TINY, "--out", tmp_path / "there")
    giro(*words, "--policies", "lin-ucb,ucb-glm")
    assert (tmp_path / "there" / "claims.csv").exists()
    giro(*words, "--policies", "ucb1", "--seed", 1)
    assert read_csv(tmp_path / "there" / "finals.csv")["policy"].to_list() == ["ucb1"]
    assert not list((tmp_path / "there").glob("claims.*"))


def test_a_call_with_fewer_runs_forgets_none(giro: Giro, tmp_path: Path) -> None:
    words = ("--policies", "lin-ucb", "--out", tmp_path / "there")
    giro("reproduce", "contextual", *TINY, *words)
    fewer = giro("reproduce", "contextual", *TINY[:-1], 1, *words)
    assert fewer.status == 0
    assert read_csv(tmp_path / "there" / "finals.csv")["runs"].to_list() == [2]


def test_runs_of_other_samplers_are_judged_until_as_many_are_played(
    giro: Giro, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def table() -> str:
        return (tmp_path / "finals.csv").read_text()

    words = ("reproduce", "contextual", *TINY, "--out", tmp_path)
    both = ("--policies", "lin-ucb,ucb-glm")
    assert "judging" not in giro(*words, *both).error
    before, verdicts = table(), (tmp_path / "claims.csv").read_text()
    assert "runs of giro" not in before
    monkeypatch.setattr(play, "stream", lambda seed, *path: stream(seed + 1, *path))
    said = "judging 4 runs made by giro 0"
    assert said in giro(*words, *both).error
    assert said in giro(*words, "--policies", "lin-ucb", "--fresh").error  # half of it
    assert (table(), (tmp_path / "claims.csv").read_text()) == (before, verdicts)
    assert "judging" not in giro(*words, *both, "--fresh").error
    assert table() != before
    assert "(runs of giro 0" in table().splitlines()[0]
    assert {trace.runs.size for trace in load_traces(tmp_path / "runs.parquet")} == {2}
    assert len(load_traces(tmp_path / "runs.parquet")) == 4


def test_verdicts_say_how_much_of_a_claim_was_played(giro: Giro, tmp_path: Path) -> None:
    words = ("--policies", "lin-ucb,lin-ts,ucb-glm", "--out", tmp_path / "there")
    done = giro("reproduce", "contextual", *TINY, *words)
    assert done.status == 0
    assert "(2 of 14 played)" in " ".join(done.out.split())


def test_settings_are_played_in_parts_and_judged_together(
    giro: Giro, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = [contextual.LIN_UCB, contextual.LIN_TS, contextual.UCB_GLM]
    monkeypatch.setattr(contextual.Setup, "policies", lambda _: quick)
    words = ("reproduce", "settings", *TINY, "--fit", "exact", "--out", tmp_path / "there")
    giro(*words, "--contexts", "unit")
    done = giro(*words, "--contexts", "range")
    assert (done.status, "Not all of it was played." in done.out) == (0, True)
    finals = read_csv(tmp_path / "there" / "finals.csv")
    assert finals["problem"].str.extract("scale=(.*)$").to_list() == ["unit"] * 3 + ["range"] * 3
    claims = read_csv(tmp_path / "there" / "claims.csv")
    assert set(claims["number"]) == {7}
    assert set(claims["scale"]) == {"unit", "range"}
    assert read_csv(tmp_path / "there" / "comparisons.csv").height == 2 * 4  # both fits


def test_models_told_everything_are_compared_on_adult(giro: Giro, tmp_path: Path) -> None:
    words = ("reproduce", "offline", "--splits", 2, "--rows", 100, "--out", tmp_path / "there")
    done = giro(*words, "--only", "adult", "--json")
    passes = [1, 1, 1, 10, 100]
    assert [score["passes"] for score in done.records["scores"]] == passes
    assert [claim["number"] for claim in done.records["claims"]] == [
        f"6, {n} pass{'es' * (n > 1)}" for n in passes[2:]
    ]
    giro(*words, "--only", "statlog")
    assert set(read_csv(tmp_path / "there" / "scores.csv")["data"]) == {"statlog"}
    assert not (tmp_path / "there" / "claims.csv").exists()
    made_by = (tmp_path / "there" / "scores.csv").read_text().splitlines()[0]
    assert "--only statlog (giro " in made_by


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("contextual", "--only", "mnist"), "no data set of the paper is called 'mnist'"),
        (("contextual", "--policies", "gyro"), "no policy is called 'gyro'"),
        (("contextual", "--runs", "-1"), "a whole number runs >= 1"),
        (("contextual", "--scale", "huge"), "'huge' is not one of"),
        (("settings", "--only", "mnist"), "no data set of the paper is called 'mnist'"),
        (("settings", "--fit", "newton"), "'newton' is not one of"),
        (("settings", "--contexts", "huge"), "'huge' is not one of"),
        (("offline", "--only", "mnist"), "no data set of the paper is called 'mnist'"),
        (("offline", "--splits", "0"), "a whole number splits >= 1"),
        (("offline", "--rows", "3"), "a whole number rows >= 10"),
    ],
)
def test_what_is_asked_for_wrongly_is_refused_in_a_sentence(
    giro: Giro, tmp_path: Path, words: tuple[str, ...], complaint: str
) -> None:
    done = giro("reproduce", *words, "--out", tmp_path / "new")
    assert (done.status, done.out) == (2, "")
    assert complaint in done.error
