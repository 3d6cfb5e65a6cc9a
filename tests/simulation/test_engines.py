"""Threads, Dask and Ray: the same numbers, whatever happens to the workers."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from simulation.notes import ONE_ARM, Notes, noting

from giro import BadParameter, GiroError, Policy, Problem, Trace, UnknownName, simulate
from giro.policies.randomized import Randomized
from giro.simulation import cluster as cluster_module
from giro.simulation.chunks import Work
from giro.simulation.cluster import Backend, Cluster
from giro.simulation.engines import EngineName, open_engine
from giro.simulation.experiment import Experiment, make_setting, run
from giro.simulation.kept import Kept, load_folder
from giro.simulation.trace import merge

GIRO = (sys.executable, "-c", "from giro.cli.main import main; main()")
UCB1 = Policy.parse("ucb1")
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


def _work(policy: Policy = UCB1) -> Work:
    setting = make_setting(policy, ONE_ARM, rounds=2, seed=5)
    return Work(policy, Problem.parse(ONE_ARM), setting)


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


@pytest.mark.parametrize(("engine", "jobs"), [("dask", 1), ("dask", 2), ("ray", 2)])
def test_a_killed_worker_costs_only_what_it_had(
    engine: EngineName, jobs: int, tmp_path: Path
) -> None:
    pytest.importorskip(engine, reason="an extra, and Ray too large for every test environment")
    notes, alone = Notes(tmp_path / "notes"), Notes(tmp_path / "alone")
    work, traces = _work(noting(notes.path, waits_after=60, dies="once")), list[Trace]()
    with open_engine(engine, jobs=jobs) as cluster:
        for trace in cluster.finished(work, range(150)):
            traces.append(trace)
            notes.go.touch()  # when 60 runs were begun, and this one was fetched, a worker dies
    here = simulate(noting(alone.path), ONE_ARM, rounds=2, runs=150, seed=5, jobs=1)
    assert numbers(merge(traces)) == numbers(here)
    assert sum(trace.runs.size for trace in traces) == 150

    begun, dead = notes.read(), notes.dead.read_text()
    by_run = {run: [b.process for b in begun if b.run == run] for _, run in alone.read()}
    assert {process for process, _ in begun} > {dead}  # with a single worker: another came
    again = {run: processes for run, processes in by_run.items() if len(processes) > 1}
    assert {processes[0] for processes in again.values()} == {dead}
    assert not again.keys() & {list(by_run)[run] for run in traces[0].runs}


def test_runs_that_kill_every_worker_are_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dask = pytest.importorskip("dask", reason="engine dask is an extra")
    monkeypatch.setattr(cluster_module, "_ATTEMPTS", 1)
    notes = Notes(tmp_path / "notes")
    notes.go.touch()
    policy = noting(notes.path, waits_after=0, dies="always")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        pytest.raises(GiroError, match="2 runs of randomized:draw=Note did not come back"),
    ):
        simulate(policy, ONE_ARM, rounds=2, runs=2, jobs=1, engine="dask")


def test_runs_are_given_up_when_no_worker_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed", reason="engine dask is an extra")
    with distributed.LocalCluster(
        n_workers=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    ) as cluster:
        with open_engine("dask", address=cluster.scheduler_address) as engine:
            cluster.scale(0)
            while cluster.scheduler.workers:
                time.sleep(0.01)
            monkeypatch.setattr("giro.simulation.dask_cluster.PATIENCE", 0.1)
            with pytest.raises(GiroError, match="2 runs of ucb1 did not come back"):
                list(engine.finished(_work(), range(2)))


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
    list(run(experiment, Kept(tmp_path)))
    (trace,) = run(experiment, Kept(tmp_path), engine="dask", address="tcp://127.0.0.1:1")
    assert trace.runs.size == 2


def test_closing_the_iterator_while_runs_are_under_way_is_no_error(
    address: str, tmp_path: Path
) -> None:
    notes = Notes(tmp_path / "notes")
    with open_engine("dask", address=address) as engine:
        iterator = engine.finished(_work(noting(notes.path, waits_after=20)), range(1000))
        assert next(iterator).runs.size >= 1
        iterator.close()
        notes.go.touch()


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
            whole = simulate(work.policy, work.problem, rounds=2, runs=6, seed=5)
            yield whole.only(runs[0] + 2)
        raise _Lost("a cable was pulled")


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


@pytest.fixture
def free_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


@pytest.mark.parametrize("where", ["tcp://127.0.0.1:{free}", "nonsense", "tcp://:8786"])
def test_an_address_where_nobody_answers_is_refused(where: str, free_port: int) -> None:
    words = ["simulate", "ucb1", "--runs", "2", "--engine", "dask"]
    done = subprocess.run(
        [*GIRO, *words, "--address", where.format(free=free_port)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("giro: no Dask scheduler answers at")


def test_dask_which_would_try_for_long_is_not_asked_where_nobody_listens(
    free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    dask_cluster = pytest.importorskip("giro.simulation.dask_cluster", reason="an extra")
    asked: list[str] = []
    monkeypatch.setattr(dask_cluster, "Client", lambda address, **rest: asked.append(address))
    with pytest.raises(GiroError, match="no Dask scheduler answers at"):
        simulate("ucb1", "beta", rounds=2, engine="dask", address=f"tcp://127.0.0.1:{free_port}")
    assert not asked
