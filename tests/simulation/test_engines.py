"""Threads, Dask and Ray: the same numbers, whatever happens to the workers."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from simulation.notes import ONE_ARM, noting

from giro import BadParameter, GiroError, Problem, Trace, UnknownName, simulate
from giro.experiments.experiment import Experiment
from giro.experiments.kept import Kept, load_folder
from giro.experiments.run import run
from giro.policies.randomized import Randomized
from giro.simulation import cluster as cluster_module
from giro.simulation.chunks import Work
from giro.simulation.cluster import Backend, Cluster
from giro.simulation.engines import EngineName, open_engine
from giro.simulation.simulate import make_setting

GIRO = (sys.executable, "-c", "from giro.cli.main import main; main()")
SMALL: dict[str, Any] = {"rounds": 100, "runs": 40, "seed": 3}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The scheduler of a Dask cluster of two worker processes."""
    distributed = pytest.importorskip("distributed", reason="engine dask is an extra")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    ) as cluster:
        yield cluster.scheduler_address


def numbers(trace: Trace) -> dict[str, list[Any]]:
    """Return all that does not depend on the clock."""
    names = ("runs", "regret", "reward", "best", "pulls")
    return {name: getattr(trace, name).tolist() for name in names}


# -- Dask --------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["ucb1", "thompson"])
def test_dask_gives_the_numbers_of_threads(address: str, policy: str) -> None:
    told: list[int] = []
    there = simulate(policy, "beta", **SMALL, engine="dask", address=address, progress=told.append)
    here = simulate(policy, "beta", **SMALL)
    assert there.setting == here.setting
    assert numbers(there) == numbers(here)
    assert sum(told) == 40


def test_a_python_policy_without_text_is_sent_as_it_is(address: str, tmp_path: Path) -> None:
    policy = noting(tmp_path / "notes")
    here = simulate(policy, "bernoulli", rounds=20, runs=6, seed=1)
    there = simulate(policy, "bernoulli", rounds=20, runs=6, seed=1, engine="dask", address=address)
    assert numbers(there) == numbers(here)


def test_a_killed_worker_costs_only_its_chunk(tmp_path: Path) -> None:
    notes, chunks = tmp_path / "notes", list[int]()
    policy = noting(notes, seconds=0.02)

    def kill_once(ended: int) -> None:
        chunks.append(ended)
        if sum(chunks) > 40 >= sum(chunks) - ended:
            os.kill(int(notes.read_text().split()[-1]), signal.SIGKILL)

    setting: dict[str, Any] = {"rounds": 2, "runs": 150, "seed": 5}
    there = simulate(policy, ONE_ARM, **setting, jobs=2, engine="dask", progress=kill_once)
    pids = notes.read_text().split()
    assert len(set(pids)) == 3  # two workers, and the one in the place of the dead
    again = len(pids) - 150
    assert again <= 2 * max(chunks)  # its chunk, and one that had ended but was not yet fetched
    assert numbers(there) == numbers(simulate(policy, ONE_ARM, **setting))


def test_runs_that_kill_every_worker_are_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dask = pytest.importorskip("dask", reason="engine dask is an extra")
    monkeypatch.setattr(cluster_module, "_ATTEMPTS", 1)
    policy = noting(tmp_path / "notes", fatal=True)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        pytest.raises(GiroError, match="2 runs of randomized:draw=Note did not come back"),
    ):
        simulate(policy, ONE_ARM, rounds=2, runs=2, jobs=1, engine="dask")


def test_what_was_interrupted_is_not_computed_again(address: str, tmp_path: Path) -> None:
    experiment = Experiment(["beta"], ["ucb1", "greedy"], **SMALL)
    asked_for: list[int] = []

    def interrupt(setting: object, count: int) -> None:
        asked_for.append(count)
        if sum(asked_for) >= 50:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run(experiment, Kept(tmp_path), engine="dask", address=address, on_runs=interrupt))
    kept = sum(trace.runs.size for trace in load_folder(tmp_path))
    assert kept >= 50
    computed: list[int] = []
    traces = list(
        run(
            experiment,
            Kept(tmp_path),
            engine="dask",
            address=address,
            on_runs=lambda setting, count: computed.append(count),
        )
    )
    assert computed[0] == 40  # found, all at once
    assert [numbers(trace) for trace in traces] == [numbers(trace) for trace in run(experiment)]


def test_no_cluster_is_asked_when_nothing_is_missing(tmp_path: Path) -> None:
    experiment = Experiment(["beta"], ["ucb1"], rounds=10, runs=2)
    list(run(experiment, tmp_path))
    (trace,) = run(experiment, Kept(tmp_path), engine="dask", address="tcp://127.0.0.1:1")
    assert trace.runs.size == 2


def test_closing_the_iterator_early_is_no_error(address: str, tmp_path: Path) -> None:
    policy = noting(tmp_path / "notes", seconds=0.01)
    setting = make_setting(policy, ONE_ARM, rounds=2, seed=0)
    work = Work(policy, Problem.parse(ONE_ARM), setting)
    with open_engine("dask", address=address) as engine:
        iterator = engine.finished(work, range(1000))
        assert next(iterator).runs.size >= 1
        iterator.close()


def _out_of_range(history: Any, rng: Any) -> float:
    return float("nan")


def test_an_error_in_a_worker_is_the_error_here(address: str) -> None:
    policy = Randomized(_out_of_range)
    with pytest.raises(GiroError, match="randomized needs numbers from draw, got nan"):
        simulate(policy, ONE_ARM, rounds=3, runs=2, engine="dask", address=address)


# -- what is lost is sent again ----------------------------------------------------------------


class _Lost(Exception):
    pass


class _Unreliable(Cluster):
    """Plays two runs at each attempt, then loses the others."""

    def __init__(self, *, hopeless: bool) -> None:
        super().__init__(Backend(lambda: None, workers=1, streams=True, lost=(_Lost,)))
        self.asked_for: list[list[int]] = []
        self._hopeless = hopeless

    def _attempt(self, work: Work, runs: Any) -> Iterator[Trace]:
        self.asked_for.append(runs)
        if not self._hopeless:
            whole = simulate("ucb1", "beta", rounds=10, runs=6)
            yield whole.only(runs[0] + 2)
        raise _Lost("a cable was pulled")


def _work() -> Work:
    (cell,) = Experiment(["beta"], ["ucb1"], rounds=10).cells()
    return Work(cell.policy, cell.problem, cell.setting)


def test_only_what_is_missing_is_sent_again() -> None:
    cluster = _Unreliable(hopeless=False)
    with pytest.raises(StopIteration):
        iterator = cluster.finished(_work(), range(6))
        while True:
            next(iterator)
    assert cluster.asked_for == [[0, 1, 2, 3, 4, 5], [2, 3, 4, 5], [4, 5]]


def test_a_cluster_that_gives_nothing_back_is_given_up() -> None:
    cluster = _Unreliable(hopeless=True)
    with pytest.raises(GiroError, match=r"6 runs of ucb1 .* sent 3 times: a cable was pulled"):
        list(cluster.finished(_work(), range(6)))
    assert len(cluster.asked_for) == 3


# -- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"engine": "task"}, "no engine is called 'task'; did you mean 'dask'"),
        ({"address": "tcp://a:1"}, "threads have no address"),
        ({"engine": "dask", "address": "tcp://a:1", "jobs": 2}, "has its own workers"),
        ({"engine": "dask", "jobs": 0}, "jobs is at least 1"),
    ],
)
def test_an_engine_that_makes_no_sense_is_refused(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises((BadParameter, UnknownName)) as refusal:
        simulate("ucb1", "beta", rounds=10, runs=2, **changes)
    assert complaint in str(refusal.value)


@pytest.mark.parametrize(("engine", "module"), [("dask", "distributed"), ("ray", "ray")])
def test_a_missing_extra_is_named(
    engine: EngineName, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, f"giro.simulation.{engine}_cluster", raising=False)
    with pytest.raises(GiroError, match=rf"pip install 'giro-bandits\[{engine}\]'"):
        simulate("ucb1", "beta", rounds=10, runs=2, engine=engine)


@pytest.mark.parametrize("where", ["tcp://127.0.0.1:{free}", "nonsense", "tcp://:8786"])
def test_an_address_where_nobody_answers_is_refused_soon(where: str) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        free = unused.getsockname()[1]
    words = ["simulate", "ucb1", "--runs", "2", "--engine", "dask"]
    began = time.monotonic()
    done = subprocess.run(
        [*GIRO, *words, "--address", where.format(free=free)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("giro: no Dask scheduler answers at")
    assert time.monotonic() - began < 15


# -- Ray ---------------------------------------------------------------------------------------


def test_ray_gives_the_numbers_of_threads_though_a_worker_is_killed(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is an extra, too large for every test environment")
    notes, ended = tmp_path / "notes", list[int]()
    policy = noting(notes, seconds=0.05)

    def kill_once(count: int) -> None:
        ended.append(count)
        if len(ended) == 1:
            os.kill(int(notes.read_text().split()[-1]), signal.SIGKILL)

    setting: dict[str, Any] = {"rounds": 2, "runs": 100, "seed": 5}
    there = simulate(policy, ONE_ARM, **setting, jobs=2, engine="ray", progress=kill_once)
    assert len(set(notes.read_text().split())) == 3
    assert numbers(there) == numbers(simulate(policy, ONE_ARM, **setting))
