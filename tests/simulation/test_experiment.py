"""Run what is missing, keep what is there."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from giro import BadFile, BadParameter, Trace, simulate
from giro.simulation import kept as kept_module
from giro.simulation.engines import Threads
from giro.simulation.experiment import Experiment, run
from giro.simulation.kept import Kept, load_folder
from giro.simulation.trace import Setting

SMALL = Experiment(["bernoulli", "beta"], ["ucb1", "greedy"], rounds=50, runs=5, seed=3)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the runs that are computed, not found."""
    numbers: list[int] = []
    original = Threads.finished

    def spy(self, work, runs):  # type: ignore[no-untyped-def]
        numbers.extend(runs)
        return original(self, work, runs)

    monkeypatch.setattr(Threads, "finished", spy)
    return numbers


def test_every_policy_is_run_on_every_problem_in_the_order_asked_for() -> None:
    settings = [trace.setting for trace in run(SMALL)]
    assert [(s.problem.split(":")[0], s.policy) for s in settings] == [
        ("bernoulli", "ucb1"),
        ("bernoulli", "greedy"),
        ("beta", "ucb1"),
        ("beta", "greedy"),
    ]


def test_numbers_are_those_of_simulate(tmp_path: Path) -> None:
    alone = simulate("greedy", "beta", rounds=50, runs=5, seed=3)
    for folder in (None, tmp_path, tmp_path):
        assert list(run(SMALL, Kept(folder)))[-1].regret.tolist() == alone.regret.tolist()


def test_a_second_run_computes_nothing(tmp_path: Path, computed: list[int]) -> None:
    first = list(run(SMALL, Kept(tmp_path)))
    assert len(computed) == 20
    computed.clear()
    told: list[int] = []
    second = list(run(SMALL, Kept(tmp_path), on_runs=lambda setting, count: told.append(count)))
    assert computed == []
    assert sum(told) == 20
    assert [t.regret.tolist() for t in first] == [t.regret.tolist() for t in second]


def test_more_runs_compute_only_the_new_ones(tmp_path: Path, computed: list[int]) -> None:
    few, many = (Experiment(["bernoulli"], ["ucb1"], 50, runs=n, seed=3) for n in (5, 8))
    list(run(few, Kept(tmp_path)))
    computed.clear()
    (trace,) = run(many, Kept(tmp_path))
    assert computed == [5, 6, 7]
    assert trace.runs.tolist() == list(range(8))
    (trace,) = run(few, Kept(tmp_path))
    assert trace.runs.tolist() == list(range(5))


def test_another_setting_is_computed_anew(tmp_path: Path, computed: list[int]) -> None:
    for seed in (1, 2):
        list(run(Experiment(["bernoulli"], ["ucb1"], 50, runs=2, seed=seed), Kept(tmp_path)))
    assert len(computed) == 4
    assert sorted(trace.setting.seed for trace in load_folder(tmp_path)) == [1, 2]


def test_a_damaged_file_is_refused_and_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "runs.parquet").write_bytes(b"mine")
    with pytest.raises(BadFile, match=r"runs.parquet cannot be read as Parquet"):
        Kept(tmp_path)
    assert (tmp_path / "runs.parquet").read_bytes() == b"mine"


@pytest.mark.parametrize("kept", [True, False])
def test_ctrl_c_yields_and_keeps_what_is_finished(tmp_path: Path, kept: bool) -> None:
    finished = 0

    def interrupt(setting: Setting, count: int) -> None:
        nonlocal finished
        finished += count
        if finished == 7:
            raise KeyboardInterrupt

    traces: list[Trace] = []
    with pytest.raises(KeyboardInterrupt):
        for trace in run(SMALL, Kept(tmp_path if kept else None), jobs=1, on_runs=interrupt):
            traces.append(trace)
    assert [trace.runs.size for trace in traces] == [5, 2]
    if kept:
        assert sum(trace.runs.size for trace in load_folder(tmp_path)) == 7


def test_results_are_saved_while_a_long_experiment_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_module, "_SAVE_EVERY", 0.0)
    seen: list[int] = []

    def look(setting: Setting, count: int) -> None:
        path = tmp_path / "runs.parquet"
        seen.append(Trace.load(path).runs.size if path.exists() else 0)

    experiment = Experiment(["bernoulli"], ["ucb1"], 50, runs=4)
    list(run(experiment, Kept(tmp_path), jobs=1, on_runs=look))
    assert seen == [0, 0, 1, 2, 3]


@pytest.mark.parametrize(
    ("problems", "policies", "complaint"),
    [
        ([], ["ucb1"], "at least one problem and one policy"),
        (["bernoulli"], [], "at least one problem and one policy"),
        (["bernoulli"], ["ucb1", "ucb1"], "listed twice"),
        (["beta", "beta:v=4"], ["ucb1"], "listed twice"),
    ],
)
def test_an_experiment_that_makes_no_sense_is_refused(
    problems: list[str], policies: list[str], complaint: str
) -> None:
    with pytest.raises(BadParameter, match=complaint):
        Experiment(problems, policies, rounds=10)


def test_an_experiment_is_checked_before_anything_is_computed() -> None:
    for changes in ({"rounds": 0}, {"runs": 0}, {"seed": -1}, {"points": 0}):
        with pytest.raises(BadParameter):
            Experiment(["bernoulli"], ["ucb1"], **({"rounds": 10} | changes))  # type: ignore[arg-type]


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no results of giro"):
        load_folder(tmp_path)
    with pytest.raises(BadFile, match="there is no folder"):
        load_folder(tmp_path / "nowhere")


ENDLESS = """
from pathlib import Path
from giro.simulation.experiment import Experiment, run
from giro.simulation.kept import Kept
experiment = Experiment(["bernoulli"], ["ucb1"], rounds=20_000, runs=1_000_000)
def tell(setting, count):
    print(count, flush=True)
list(run(experiment, Kept(Path("{folder}")), jobs=2, on_runs=tell))
"""


def test_a_process_that_is_interrupted_keeps_its_finished_runs(tmp_path: Path) -> None:
    source = ENDLESS.format(folder=tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-c", source],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    assert process.stdout is not None
    told = 0
    while told < 5:
        told += int(process.stdout.readline())
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=600)  # all runs would take hours
    assert "KeyboardInterrupt" in error
    (trace,) = load_folder(tmp_path)
    assert told + sum(map(int, out.split())) <= trace.runs.size < 1_000_000
