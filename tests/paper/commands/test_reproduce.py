"""`giro reproduce`."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from cli.conftest import Giro
from cli.terminal import on_terminal, read_until

from giro import plots, simulate
from giro.paper.studies import linear_regret, mab
from giro.paper.study import Study
from giro.seeds import stream
from giro.simulation.kept import Kept, load_folder
from giro.simulation.metrics import final_regret
from giro.simulation.simulate import run

SMALL = ("--rounds", 60, "--runs", 4, "--seed", 3)
VERDICTS = {"holds", "fails", "undecided"}


def test_records_of_mab_are_finals_and_claims(giro: Giro, tmp_path: Path) -> None:
    done = giro("reproduce", "mab", *SMALL, "--out", tmp_path, "--json")
    assert done.status == 0
    finals, claims = done.records["finals"], done.records["claims"]
    assert len({(final["problem"], final["policy"]) for final in finals}) == len(finals) == 18
    trace = simulate("ucb1", "beta:v=16", rounds=60, runs=4, seed=3)
    (ucb1,) = (f for f in finals if f["policy"] == "ucb1" and "v=16" in f["problem"])
    assert (ucb1["regret"], ucb1["regret_se"]) == final_regret(trace)[:2]
    assert [claim["number"] for claim in claims] == ["1", "2", "3", "4", "5", "6"]
    assert all(claim["verdict"] in VERDICTS for claim in claims)
    assert all({"claim", "estimate", "se"} <= set(claim) for claim in claims)
    assert [final["policy"] for final in done.records["variants"]["finals"]] == ["kl-ucb:c=0"] * 3
    assert len(done.records["variants"]["claims"]) == 2


def test_mab_writes_tables_and_figures(giro: Giro, tmp_path: Path) -> None:
    done = giro("reproduce", "mab", *SMALL, "--out", tmp_path / "new")
    folder = tmp_path / "new"
    assert done.error == f"wrote {folder}/regret.png and the tables beside it\n"
    made_by = "giro reproduce mab --rounds 60 --runs 4 --seed 3"
    for name in ("curves", "finals", "claims", "comparisons"):
        assert (folder / f"{name}.csv").read_text().startswith(f"# {made_by} (giro ")
        assert pl.read_csv(folder / f"{name}.csv", comment_prefix="#").height > 0
    assert pl.read_csv(folder / "finals.csv", comment_prefix="#").height == 21
    assert made_by.encode() in (folder / "regret.png").read_bytes()


def test_mab_prints_a_table_for_each_problem_and_the_claims(giro: Giro, tmp_path: Path) -> None:
    out = giro("reproduce", "mab", *SMALL, "--out", tmp_path).out
    assert len(re.findall("^problem  ", out, re.M)) == 3
    assert re.search(r"^1 +Giro beats UCB1 in all problems for all a +(holds|undecided)", out, re.M)
    assert "family-wise level 5%" in out
    assert "47 comparisons" in out


def test_a_second_call_finds_everything_and_says_the_same(giro: Giro, tmp_path: Path) -> None:
    words = ("reproduce", "mab", *SMALL, "--out", tmp_path)
    first = giro(*words).out
    picture = (tmp_path / "regret.png").read_bytes()
    assert giro(*words, "--jobs", 1).out == first  # rounds/s too: nothing was computed
    assert (tmp_path / "regret.png").read_bytes() == picture


def labels_of(study: Study, folder: Path) -> str:
    """Return the figure of a study as SVG, where all that is written stands in comments."""
    traces = list(run(study.experiments[0], Kept(folder)))
    plots.save(study.outcome(traces, True).figures()["regret"], folder / "regret.svg")
    return (folder / "regret.svg").read_text()


def test_the_figure_has_the_papers_names(tmp_path: Path) -> None:
    drawing = labels_of(mab.study(rounds=60, runs=4, seed=3, also=["phe:a=1.1"]), tmp_path)
    for label in ("Bernoulli", "beta, v = 16", "Giro, a = 1/10", "KL-UCB", "TS", "phe:a=1.1"):
        assert f"<!-- {label} -->" in drawing


def test_further_policies_are_played_and_drawn(giro: Giro, tmp_path: Path) -> None:
    also = "greedy,phe:a=1.1,kl-ucb:c=0"
    done = giro("reproduce", "mab", *SMALL, "--with", also, "--out", tmp_path, "--json")
    policies = {final["policy"] for final in done.records["finals"]}
    assert {"greedy", "phe:a=1.1", "kl-ucb:c=0", "giro:a=1"} <= policies
    assert f"--with {also} (giro " in (tmp_path / "finals.csv").read_text()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("mab --with gyro", "did you mean 'giro'?"),
        ("mab --rounds 0", "a whole number rounds >= 1"),
        ("mab --runs 0", "a whole number runs >= 1"),
        ("mab --jobs 0", "an engine needs a whole number jobs >= 1, or none, got jobs=0"),
        ("linear-regret --runs 0", "a whole number runs >= 1"),
        ("mab --out {file}", "cannot make the folder"),
        ("figure", "figure"),
    ],
)
def test_bad_input_is_refused(giro: Giro, tmp_path: Path, words: str, complaint: str) -> None:
    (tmp_path / "file").touch()
    folder = () if "--out" in words else ("--out", tmp_path / "out")
    done = giro("reproduce", *words.format(file=tmp_path / "file").split(), *folder)
    assert done.status == 2
    assert complaint in done.error
    assert done.out == ""


def test_one_run_decides_nothing(giro: Giro, tmp_path: Path) -> None:
    done = giro("reproduce", "mab", "--rounds", 20, "--runs", 1, "--out", tmp_path, "--json")
    assert {claim["verdict"] for claim in done.records["claims"]} == {"undecided"}
    assert done.records["claims"][0]["se"] is None


def test_linear_regret_shows_regret_next_to_bounds(giro: Giro, tmp_path: Path) -> None:
    words = ("reproduce", "linear-regret", "--rounds", 40, "--runs", 20, "--out", tmp_path)
    shown = giro(*words)
    assert shown.status == 0
    assert shown.out.count("exact, 12 rounds") == 3
    assert re.search(r"^k = 1, exact +Lemma 1: .* holds ", shown.out, re.M)
    records = giro(*words, "--json").records
    assert len(records["finals"]) == 12
    bounds = [final["bound"] for final in records["finals"] if final["policy"] != "giro:a=1"]
    assert bounds[0] == pytest.approx(0.5 * 0.2 * 0.2 * 39)
    assert len(records["exact"]) == 9 * 12
    assert [c["verdict"] for c in records["claims"] if "exact" in c["number"]] == ["holds"] * 3
    drawing = labels_of(linear_regret.study(rounds=40, runs=20, seed=0), tmp_path)
    for label in ("μ = 0.8, 0.6", "bootstrap, 2 initial pulls", "lower bound", "exact"):
        assert f"<!-- {label} -->" in drawing


def test_ctrl_c_keeps_the_finished_runs_and_judges_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from giro.cli.main import main; main()"]
    command += ["reproduce", "mab", "--rounds", "20000", "--runs", "100000", "--out", str(tmp_path)]
    with on_terminal(command, stdout=subprocess.PIPE) as (process, terminal):
        read_until(terminal, rb" [1-9][\d,]* of 2,100,000")
        process.send_signal(signal.SIGINT)
        read_until(terminal, rb"interrupted: [\d,]+ of 2,100,000 runs finished, kept in")
        assert process.stdout is not None
        out = process.stdout.read().decode()
    assert process.returncode == 130
    assert "claim" not in out
    assert load_folder(tmp_path)[0].runs.size > 0
    assert not (tmp_path / "finals.csv").exists()


def test_the_bakeoff_says_how_to_make_its_data_sets(giro: Giro, tmp_path: Path) -> None:
    done = giro("reproduce", "bakeoff", "--sets", tmp_path, "--out", tmp_path / "out")
    assert done.status != 0
    assert "scripts/bakeoff_sets.py" in done.error
    assert not (tmp_path / "out").exists()


def test_a_set_of_the_bakeoff_is_played_and_drawn(giro: Giro, tmp_path: Path) -> None:
    x = stream(0, 1).normal(size=(2_100, 2))
    words = ["up" if total > 0.0 else "down" for total in x.sum(axis=1)]
    frame = pl.DataFrame({"x": x[:, 0], "y": x[:, 1], "class": words})
    frame.write_parquet(tmp_path / "waveform.parquet")
    done = giro(
        *("reproduce", "bakeoff", "--sets", tmp_path, "--only", "waveform", "--runs", 2),
        *("--policies", "uniform,ucb1", "--out", tmp_path / "out"),
        *("--field", tmp_path / "none.csv"),
    )
    assert done.status == 0, done.error
    assert re.search(r"giro +ucb1 +1 +1\.00|giro +ucb1 +1 +2\.00", done.out)
    assert (tmp_path / "out" / "bakeoff.png").stat().st_size > 10_000
    lines = (tmp_path / "out" / "rewards.csv").read_text().splitlines()
    assert sum(line.startswith("waveform,judging,giro") for line in lines) == 2


def test_family_writes_one_table_and_one_figure(giro: Giro, tmp_path: Path) -> None:
    words = ("--only", "discrete", "--policies", "uniform", "--rounds", 60, "--runs", 2)
    done = giro("reproduce", "family", *words, "--out", tmp_path)
    assert done.status == 0
    assert "problem  discrete, 10 arms" in done.out
    assert {each.name for each in tmp_path.iterdir()} == {
        "finals.csv", "regret.png", "runs.parquet",
    }  # fmt: skip
    note = (tmp_path / "finals.csv").read_text().splitlines()[0]
    assert note.startswith("# giro reproduce family --rounds 60 --runs 2 --seed 0 --only discrete")


def test_wheel_writes_one_table_of_shares_beside_those_published(
    giro: Giro, tmp_path: Path
) -> None:
    words = ("--only", "statlog", "--rounds", 60, "--runs", 2)
    done = giro("reproduce", "wheel", *words, "--out", tmp_path)
    assert done.status == 0
    assert re.search(
        r"statlog,scale=column +lin-post +60 +2 +\d+\.\d\d +\d+\.\d\d +19\.00", done.out
    )
    assert {each.name for each in tmp_path.iterdir()} == {"finals.csv", "runs.parquet"}
