"""`giro simulate`."""

from pathlib import Path

import polars as pl
import pytest
from cli.conftest import Giro
from simulation.traces import small_trace

from giro import Policy, simulate
from giro.cli import output
from giro.cli.simulate import result_record
from giro.seeds import stream
from giro.simulation import play
from giro.simulation.limit import lai_robbins, slope
from giro.simulation.metrics import best_share, final_record, final_regret, mean_reward
from giro.version import __version__

SMALL = ("--rounds", 50, "--runs", 4, "--seed", 3)


def test_records_are_the_numbers_of_simulate(giro: Giro) -> None:
    done = giro("simulate", "ucb1", "greedy", "--problem", "beta", *SMALL, "--json")
    assert done.status == 0
    assert [record["policy"] for record in done.records] == ["ucb1", "greedy"]
    trace = simulate("ucb1", "beta", rounds=50, runs=4, seed=3)
    record = done.records[0]
    assert (record["rounds"], record["runs"], record["seed"]) == (50, 4, 3)
    assert record["problem"] == "beta:v=4,n_arms=10,low=0.25,high=0.75"
    assert (record["regret"], record["regret_se"]) == final_regret(trace)[:2]
    assert (record["reward"], record["reward_se"]) == mean_reward(trace)[:2]
    assert record["best_share"] == best_share(trace).mean
    assert record["seconds"] > 0


def test_unknown_uncertainty_is_null(giro: Giro) -> None:
    (record,) = giro("simulate", "ucb1", "--rounds", 50, "--runs", 1, "--json").records
    assert record["regret_se"] is None
    assert record["regret"] > 0


def test_the_table_shows_what_is_needed_to_repeat_it(giro: Giro) -> None:
    done = giro("simulate", "giro:a=1/3", "ucb1", "--problem", "bernoulli:means=[0.9,0.1]", *SMALL)
    lines = done.out.splitlines()
    assert lines[0] == "problem  bernoulli:means=[0.9,0.1]"
    assert lines[1].startswith("rounds   50   runs 4   seed 3   giro ")
    assert (
        lines[3].split()
        == "policy regret ±95% reward/round ±95% best arm, last 10% rounds/s".split()
    )
    assert [line.split()[0] for line in lines[4:]] == ["giro:a=1/3", "ucb1"]
    assert len({len(line) for line in lines[3:]}) == 1  # right-aligned


def test_the_table_fits_a_narrow_terminal(giro: Giro, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "page_width", lambda: 60)
    words = ("giro:a=1/3", "thompson:alpha=1.5,beta=2.25", "--problem", "bernoulli")
    lines = giro("simulate", *words, "--rounds", 1000, "--runs", 3).out.splitlines()
    assert max(map(len, lines[3:])) <= 60
    assert lines[3].split() == "policy regret ±95% reward/round ±95%".split()


def test_problems_with_contexts_are_shown_with_policies_that_know_contexts(giro: Giro) -> None:
    page = giro("simulate", "--help").out
    examples = [line.split() for line in page.splitlines() if "giro simulate" in line]
    contextual = [words for words in examples if "--data" in words or "scale=unit" in str(words)]
    assert len(contextual) == 2
    for words in contextual:
        named = words[2 : next(i for i, word in enumerate(words) if word.startswith("--"))]
        assert named and {"giro", "ucb1"}.isdisjoint(named)
        assert all(Policy.parse(name).uses_arm_features for name in named)  # so it knows contexts
    assert "Policies without contexts" in " ".join(page.split())


def test_every_problem_has_a_table_of_its_own(giro: Giro) -> None:
    out = giro("simulate", "ucb1", "--problem", "bernoulli", "--problem", "beta", *SMALL).out
    assert out.count("problem  ") == 2
    assert "\n\nproblem  beta" in out


def test_no_number_is_cut_in_a_pipe(giro: Giro) -> None:
    means = ",".join(["0.123456789"] * 40)
    problem = f"bernoulli:means=[{means}]"
    assert f"problem  {problem}\n" in giro("simulate", "ucb1", "--problem", problem, *SMALL).out


def test_results_are_kept_and_found_again(giro: Giro, tmp_path: Path) -> None:
    words = ("simulate", "ucb1", "greedy", *SMALL, "--out", tmp_path, "--json")
    first, second = giro(*words).records, giro(*words).records
    assert first == second  # seconds too: nothing was computed
    assert [path.name for path in tmp_path.iterdir()] == ["runs.parquet"]


def test_results_of_other_samplers_are_played_anew_and_said_to_stay(
    giro: Giro, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("simulate", "ucb1", "greedy", *SMALL, "--out", tmp_path, "--json")
    first = giro(*words)
    monkeypatch.setattr(play, "stream", lambda seed, *path: stream(seed + 1, *path))
    second, third = giro(*words), giro(*words)
    assert (first.error, third.error) == ("", "")
    assert f"giro {__version__} left in {tmp_path}: new ones are played" in second.error
    assert first.records != second.records == third.records


def test_jobs_change_nothing_but_the_time(giro: Giro) -> None:
    def numbers(jobs: int) -> list[dict[str, object]]:
        records = giro("simulate", "thompson", *SMALL, "--jobs", jobs, "--json").records
        return [{**record, "seconds": 0} for record in records]

    assert numbers(1) == numbers(2) == numbers(4)


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_picture_is_drawn(giro: Giro, tmp_path: Path, ending: str) -> None:
    path = tmp_path / "new" / f"regret.{ending}"
    done = giro("simulate", "ucb1", *SMALL, "--plot", path, "--spacing", "log", "--points", 5)
    assert done.status == 0
    assert done.error == f"wrote {path}\n"
    assert path.stat().st_size > 1000


@pytest.fixture
def flowers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a file of flowers in the folder where we are."""
    monkeypatch.chdir(tmp_path)
    table = {"width": [1.0, 2.0, 4.0], "colour": ["red", "blue", "red"], "kind": ["a", "b", "a"]}
    pl.DataFrame(table).write_csv("flowers.csv")
    return "flowers.csv"


def test_a_file_of_rows_is_a_problem(giro: Giro, flowers: str) -> None:
    words = ("simulate", "ucb1", "--data", flowers, "--label", "kind", *SMALL, "--json")
    (record,) = giro(*words).records
    assert record["problem"] == "classification:data=flowers.csv,label=kind,scale=column"
    assert record["regret"] + record["reward"] * 50 == pytest.approx(50)
    assert giro("simulate", "ucb1", "--problem", record["problem"], *SMALL, "--json").records[0][
        "regret"
    ] == pytest.approx(record["regret"])


def test_a_file_is_played_besides_the_problems_asked_for(giro: Giro, flowers: str) -> None:
    words = ("--problem", "beta", "--data", flowers, "--label", "kind", "--json")
    records = giro("simulate", "ucb1", *words, *SMALL).records
    assert [record["problem"].partition(":")[0] for record in records] == ["beta", "classification"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("--data flowers.csv", "the column of classes in flowers.csv"),
        ("--data flowers.csv --label sort", "no column is called 'sort'; there are: colour, kind"),
        ("--data roses.csv --label kind", "there is no file roses.csv"),
        ("--data flowers.txt --label kind", "no data set is called 'flowers.txt'"),
        ("--label kind", "a label is a column of a file: --data FILE --label kind"),
        ("--metric gain", "'gain' is not one of 'regret', 'reward'"),
    ],
)
def test_files_and_labels_that_are_not_there_are_refused(
    giro: Giro, flowers: str, words: str, complaint: str
) -> None:
    done = giro("simulate", "ucb1", *words.split())
    assert (done.status, done.out) == (2, "")
    assert complaint in done.error


@pytest.mark.parametrize("metric", ["regret", "reward"])
def test_a_picture_shows_the_metric_asked_for(giro: Giro, tmp_path: Path, metric: str) -> None:
    giro("simulate", "ucb1", *SMALL, "--plot", tmp_path / "x.svg", "--metric", metric)
    title = {"regret": "cumulative regret", "reward": "reward per round"}
    drawing = (tmp_path / "x.svg").read_text()
    assert [f"<!-- {word} -->" in drawing for word in title.values()] == [
        metric == word for word in title
    ]


def test_the_records_of_the_command_line_are_the_same_and_what_made_them() -> None:
    trace = small_trace()
    added = {"seconds": 1.0, "version": trace.setting.version}
    assert result_record(trace) == final_record(trace) | added


def test_the_limit_is_shown_with_the_slope_of_regret_over_it(giro: Giro, tmp_path: Path) -> None:
    words = ("--problem", "bernoulli:means=[0.9,0.1]", *SMALL, "--limit")
    done = giro("simulate", "ucb1", *words, "--plot", tmp_path / "x.svg")
    lines, limit = done.out.splitlines(), lai_robbins("bernoulli:means=[0.9,0.1]")
    assert lines[2] == f"limit    {limit:.4g} log n"
    assert "slope/limit" in lines[4]
    assert "<!-- limit -->" in (tmp_path / "x.svg").read_text()
    (record,) = giro("simulate", "ucb1", *words, "--json").records
    trace = simulate("ucb1", "bernoulli:means=[0.9,0.1]", rounds=50, runs=4, seed=3)
    assert record["limit"] == pytest.approx(limit)
    assert record["over_limit"] == pytest.approx(slope(trace).mean / limit)
    refused = giro("simulate", "ucb1", "--problem", "linear", *SMALL, "--limit")
    assert refused.status == 2
    assert "has no limit" in refused.error


def test_late_rewards_are_played_from_the_command_line(giro: Giro) -> None:
    late = "delayed:problem=[bernoulli:means=[0.9,0.1]],lag=100"
    (record,) = giro("simulate", "ucb1", "--problem", late, *SMALL, "--json").records
    assert record["problem"] == f"{late},delay=fixed"
    assert 0.1 < record["best_share"] < 0.9, "nothing is learned in 50 rounds"
