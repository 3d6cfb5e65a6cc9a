"""Many runs: of one policy on one problem, and experiments, which keep what was played."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from giro import BadFile, BadParameter, Trace, UnknownName, simulate
from giro.policies.ucb1 import Ucb1
from giro.problems.bernoulli import Bernoulli
from giro.simulation import kept as kept_module
from giro.simulation.engines import Threads
from giro.simulation.kept import Kept, load_folder
from giro.simulation.play import Work
from giro.simulation.simulate import Experiment, make_setting, run
from giro.simulation.trace import Setting


def test_objects_and_their_text_give_the_same_numbers() -> None:
    first = simulate(Ucb1(), Bernoulli(means=(0.7, 0.4)), rounds=100, runs=4, seed=2)
    second = simulate("ucb1", "bernoulli:means=[0.7,0.4]", rounds=100, runs=4, seed=2)
    assert first.setting == second.setting
    assert first.regret.tolist() == second.regret.tolist()


def test_a_run_does_not_depend_on_how_many_others_there_are() -> None:
    few, many = (simulate("ucb1", "beta", rounds=100, runs=n, seed=2) for n in (2, 9))
    assert few.regret.tolist() == many.regret[:2].tolist()


def test_seeds_and_runs_differ() -> None:
    first, second = (simulate("ucb1", "beta", rounds=100, runs=2, seed=s) for s in (0, 1))
    ends = [*first.regret[:, -1], *second.regret[:, -1]]
    assert len(set(ends)) == 4


def test_curves_are_sums_over_rounds_and_pulls_are_counted() -> None:
    trace = simulate("uniform", "bernoulli:means=[1,0]", rounds=50, runs=3, points=50)
    assert trace.checkpoints.tolist() == list(range(1, 51))
    assert trace.pulls.sum(axis=1).tolist() == [50] * 3
    assert trace.regret[:, -1].tolist() == trace.pulls[:, 1].tolist()
    assert trace.reward[:, -1].tolist() == trace.best[:, -1].tolist() == trace.pulls[:, 0].tolist()
    assert np.array_equal(trace.regret + trace.reward, np.tile(trace.checkpoints, (3, 1)))


def test_the_number_of_checkpoints_does_not_change_the_numbers() -> None:
    coarse, fine = (simulate("ucb1", "beta", rounds=99, runs=2, points=p) for p in (1, 99))
    assert coarse.regret[:, -1].tolist() == fine.regret[:, -1].tolist()


def test_progress_is_told_of_every_run() -> None:
    told: list[int] = []
    simulate("ucb1", "bernoulli", rounds=10, runs=7, progress=told.append)
    assert sum(told) == 7


def test_integers_of_numpy_are_welcome() -> None:
    numbers: dict[str, Any] = {"rounds": np.int64(20), "runs": np.int32(2), "seed": np.int64(3)}
    trace = simulate("ucb1", "bernoulli", **numbers)
    assert type(trace.setting.rounds) is int


def test_closing_the_iterator_early_is_no_error() -> None:
    setting = make_setting("ucb1", "bernoulli", rounds=100, seed=0)
    iterator = Threads(2).finished(Work(Ucb1(), Bernoulli(), setting), range(1000))
    assert next(iterator).runs.size == 1
    iterator.close()


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"rounds": 0}, "a whole number rounds >= 1, got rounds=0"),
        ({"rounds": 1.5}, "a whole number rounds >= 1, got rounds=1.5"),
        ({"rounds": "many"}, "a whole number rounds >= 1, got rounds='many'"),
        ({"runs": 0}, "a whole number runs >= 1, got runs=0"),
        ({"runs": 2.5}, "a whole number runs >= 1, got runs=2.5"),
        ({"seed": -1}, "a whole number seed >= 0, got seed=-1"),
        ({"seed": None}, "a whole number seed >= 0, got seed=None"),
        ({"jobs": 0}, "an engine needs a whole number jobs >= 1, or none, got jobs=0"),
        ({"jobs": 2.5}, "a whole number jobs >= 1, or none, got jobs=2.5"),
        ({"jobs": True}, "a whole number jobs >= 1, or none, got jobs=True"),
        ({"jobs": "2"}, "a whole number jobs >= 1, or none, got jobs='2'"),
        ({"points": 0}, "a whole number points >= 1"),
        ({"spacing": "odd"}, "spacing is even or log"),
        ({"policy": 3}, "expected a policy or its text, got 3"),
        ({"problem": None}, "expected a problem or its text, got None"),
    ],
)
def test_what_cannot_be_simulated_is_refused(changes: dict[str, Any], complaint: str) -> None:
    wanted: dict[str, Any] = {"policy": "ucb1", "problem": "bernoulli", "rounds": 10, "runs": 2}
    with pytest.raises(BadParameter) as refusal:
        simulate(**(wanted | changes))
    assert complaint in str(refusal.value)


def test_unknown_names_are_refused_with_a_suggestion() -> None:
    with pytest.raises(UnknownName, match="did you mean 'ucb1'"):
        simulate("ucb", "bernoulli", rounds=10)
    with pytest.raises(UnknownName, match="did you mean 'bernoulli'"):
        simulate("ucb1", "bernouli", rounds=10)


# -- experiments: run what is missing, keep what was played ---------------------------------------


SMALL = Experiment(["bernoulli", "beta"], ["ucb1", "uniform"], rounds=50, runs=5, seed=3)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the runs that are computed, not found."""
    numbers: list[int] = []
    original = Threads.finished

    def spy(self, work, runs):
        numbers.extend(runs)
        return original(self, work, runs)

    monkeypatch.setattr(Threads, "finished", spy)
    return numbers


def test_every_policy_is_run_on_every_problem_in_the_order_asked_for() -> None:
    settings = [trace.setting for trace in run(SMALL)]
    assert [(s.problem.split(":")[0], s.policy) for s in settings] == [
        ("bernoulli", "ucb1"),
        ("bernoulli", "uniform"),
        ("beta", "ucb1"),
        ("beta", "uniform"),
    ]


def test_numbers_are_those_of_simulate(tmp_path: Path) -> None:
    alone = simulate("uniform", "beta", rounds=50, runs=5, seed=3)
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
from giro.simulation.simulate import Experiment, run
from giro.simulation.kept import Kept
experiment = Experiment(["bernoulli"], ["ucb1"], rounds=20_000, runs=1_000_000)
def tell(setting, count):
    print(count, flush=True)
list(run(experiment, Kept(Path("{folder}")), jobs=2, on_runs=tell))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no process can be sent Ctrl-C there")
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
