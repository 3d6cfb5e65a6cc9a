"""Settings are played elsewhere in pieces, and the runs that come back are those played here."""

import csv
from pathlib import Path

import numpy as np
import pieces
import polars as pl
import pytest

from giro import simulate
from giro.problems import Classification, classification
from giro.seeds import stream
from giro.simulation.kept import Kept

DELTAS = ("0.5", "0.99")
WHEEL = ("--rounds", "60", "--runs", "3", "--seed", "1", "--only", "delta=0.5,delta=0.99")


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Return a file with rows and classes."""
    rng, file = stream(5), tmp_path / "few.parquet"
    columns = {name: rng.normal(size=40) for name in "ab"}
    pl.DataFrame({**columns, "class": rng.integers(0, 3, 40)}).write_parquet(file)
    return file


def test_lines_hold_every_run_of_a_study_once(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.txt", tmp_path / "cut.txt"
    pieces.write_settings("wheel", str(whole), *WHEEL)
    pieces.write_settings("wheel", str(cut), *WHEEL, "--each", "2")
    settings = [line.split() for line in whole.read_text().splitlines()]
    of = {delta: [w[0] for w in settings if w[1] == f"wheel:delta={delta}"] for delta in DELTAS}
    assert of[DELTAS[0]] == of[DELTAS[1]]
    assert {"uniform", "default", "neural-linear"} < set(of[DELTAS[0]])
    assert len(settings) == 2 * len(set(of[DELTAS[0]]))
    assert all(words[6:] == ["0", "3"] for words in settings)
    runs = sorted(
        (*words[:6], run)
        for words in (line.split() for line in cut.read_text().splitlines())
        for run in range(int(words[6]), int(words[6]) + int(words[7]))
    )
    assert runs == sorted((*words[:6], run) for words in settings for run in range(3))


def test_what_is_played_elsewhere_is_what_is_played_here(
    tmp_path: Path, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arrays, settings, folder = Path("rows.npz"), Path("settings.txt"), Path("kept")
    problem = f"classification:data={rows},label=class"
    pieces.write_rows(arrays, str(rows))
    here = simulate("lin-ts", problem, rounds=30, runs=3, seed=4, points=5)
    text = f"{here.setting.policy} {here.setting.problem} 30 4 5 even"
    settings.write_text(f"{text} 0 1\n{text} 1 2\n")
    aside = rows.rename("aside.parquet")
    pieces.play(settings, Path("pieces.npz"), "600", arrays)
    aside.rename(rows)
    pieces.keep(folder, "pieces.0.npz", "pieces.1.npz")
    there = Kept(folder).newest(here.setting)
    assert there is not None
    for name in ("runs", "regret", "reward", "best", "pulls"):
        assert np.array_equal(getattr(there, name), getattr(here, name))


def test_no_run_is_begun_when_the_time_is_over(tmp_path: Path) -> None:
    settings, out = tmp_path / "settings.txt", tmp_path / "pieces.npz"
    settings.write_text("ucb1 bernoulli:means=[0.5] 30 4 5 even 0 3\n")
    pieces.play(settings, out, "0")
    assert not [*pieces.traces_in(out.with_suffix(".0.npz"))]


def test_rows_of_the_papers_sets_travel_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("load", "read_dataset"):  # they are replaced, and put back after the test
        monkeypatch.setattr(classification, name, getattr(classification, name))
    pieces.write_rows(tmp_path / "rows.npz", "statlog")
    whole = Classification("statlog").rows
    classification._shipped_rows.cache_clear()
    pieces.use_rows(tmp_path / "rows.npz")
    travelled = Classification("statlog").rows
    classification._shipped_rows.cache_clear()
    assert travelled is not whole
    assert np.array_equal(travelled.contexts, whole.contexts)
    assert np.array_equal(travelled.labels, whole.labels)
    assert travelled.classes == whole.classes


def test_a_line_that_rests_on_more_runs_stays_and_says_since_when(tmp_path: Path) -> None:
    path = tmp_path / "finals.csv"
    path.write_text(
        "# command (giro 0.2.0, commit 0123abc)\nproblem,policy,rounds,runs,regret\n"
        "a,imed,100,20,5\nb,imed,100,20,6\nc,imed,100,20,7\n"
    )

    def record(problem: str, runs: int) -> dict[str, object]:
        return {"problem": problem, "policy": "imed", "rounds": 100, "runs": runs, "regret": 1.0}

    records = [record("a", 30), record("b", 10), record("d", 10)]
    merged = pieces.with_earlier(records, path)
    cells = [[str(line[key]) for key in ("problem", "runs", "kept_since")] for line in merged]
    assert cells == [
        ["a", "30", ""],
        ["b", "20", "0123abc"],
        ["c", "20", "0123abc"],
        ["d", "10", ""],
    ]
    assert pieces.with_earlier(records, tmp_path / "none.csv") == records


def test_a_study_is_judged_by_the_runs_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("results/wheel").mkdir(parents=True)
    options = (*WHEEL[:6], "--only", "delta=0.5")
    pieces.write_settings("wheel", "settings.txt", *options)
    pieces.play(Path("settings.txt"), Path("pieces.npz"), "600")
    pieces.keep(Path("kept"), "pieces.0.npz", "pieces.1.npz")
    pieces.judge("wheel", "kept", *options)
    note, *lines = Path("results/wheel/finals.csv").read_text().splitlines()
    assert note.startswith(
        f"# python scripts/pieces.py judge wheel results/wheel {' '.join(options)}"
    )
    (row,) = csv.DictReader(lines)
    policy = row["policy"]
    regrets = [
        simulate(each, "wheel:delta=0.5", rounds=60, runs=3, seed=1, points=100).regret[:, -1]
        for each in (policy, "uniform")
    ]
    assert float(row["share"]) == pytest.approx(
        100 * regrets[0].mean() / regrets[1].mean(), rel=1e-4
    )
    assert row["runs"] == "3"
