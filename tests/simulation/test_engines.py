"""Threads, Dask and Ray: the same numbers, whatever happens to the workers."""

import dataclasses
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from simulation.notes import ONE_ARM, Notes, noting
from simulation.traces import small_trace

from giro import BadParameter, GiroError, Policy, Problem, Trace, UnknownName, simulate
from giro.errors import MissingExtra
from giro.policies.randomized import Randomized
from giro.simulation import engines
from giro.simulation.engines import (
    Chunks,
    Crew,
    EngineName,
    drive,
    open_engine,
    play_chunk,
    play_sent,
    received,
    send,
)
from giro.simulation.kept import Kept, load_folder
from giro.simulation.play import Work
from giro.simulation.simulate import Experiment, make_setting, run
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


def test_dask_gives_the_numbers_of_threads(address: str) -> None:
    told: list[int] = []
    there = simulate(
        "thompson", "beta", **SMALL, engine="dask", address=address, progress=told.append
    )
    here = simulate("thompson", "beta", **SMALL)
    assert there.setting == here.setting
    assert numbers(there) == numbers(here)
    assert sum(told) == 40


def test_a_python_policy_without_text_is_sent_as_it_is(address: str, tmp_path: Path) -> None:
    policy = noting(tmp_path / "notes")
    here = simulate(policy, "bernoulli", rounds=20, runs=6, seed=1)
    there = simulate(policy, "bernoulli", rounds=20, runs=6, seed=1, engine="dask", address=address)
    assert numbers(there) == numbers(here)


@pytest.mark.parametrize(
    ("engine", "jobs"),
    [
        ("threads", 2),
        pytest.param("dask", 1, marks=pytest.mark.slow),
        pytest.param("dask", 2, marks=pytest.mark.slow),
        ("ray", 2),
    ],
)
def test_a_killed_worker_costs_only_what_it_had(
    engine: EngineName, jobs: int, tmp_path: Path
) -> None:
    if engine != "threads":
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
    monkeypatch.setattr(engines, "_ATTEMPTS", 1)
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
            monkeypatch.setattr("giro.simulation.engines.dask.PATIENCE", 0.1)
            with pytest.raises(GiroError, match="has no worker: dask worker tcp://"):
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


def _unreliable(work: Work, *, loses: Callable[[int], bool]) -> tuple[Crew, list[int]]:
    """A crew that loses calls, told by their number, and a list of the runs it was asked for."""
    asked_for: list[int] = []

    def submit(play: Any, chunk: list[int]) -> Future[Trace]:
        future: Future[Trace] = Future()
        asked_for.extend(chunk)
        if loses(len(asked_for) - 1):
            future.set_exception(_Lost("a cable was pulled"))
        else:
            future.set_result(play(work, chunk))
        return future

    return Crew(lambda: 1, submit, drop=lambda futures: None, lost=(_Lost,)), asked_for


def test_only_what_is_missing_is_sent_again() -> None:
    work = _work()
    crew, asked_for = _unreliable(work, loses=lambda call: call in (1, 2, 4))
    traces = list(drive(crew, Chunks(range(6), workers=1, seconds=0.0), work, play_chunk))
    assert numbers(merge(traces)) == numbers(simulate(UCB1, ONE_ARM, rounds=2, runs=6, seed=5))
    assert asked_for[:4] == [0, 1, 2, 3]
    assert sorted(asked_for) == sorted([*range(6), *(asked_for[call] for call in (1, 2, 4))])


def test_a_cluster_that_gives_nothing_back_is_given_up() -> None:
    work = _work()
    crew, asked_for = _unreliable(work, loses=lambda call: True)
    with pytest.raises(GiroError, match=r"6 runs of ucb1 .* sent 3 times: a cable was pulled"):
        list(drive(crew, Chunks(range(6), workers=1), work, play_chunk))
    assert max(map(asked_for.count, range(6))) == 3


def test_a_chunk_may_be_lost_many_times_while_others_end() -> None:
    work = _work()
    crew, asked_for = _unreliable(work, loses=lambda call: call > 0 and call % 3 > 0)
    assert len(list(drive(crew, Chunks(range(20), workers=1, seconds=0.0), work, play_chunk))) == 20
    assert len(asked_for) > 50


# -- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"engine": "task"}, "no engine is called 'task'; did you mean 'dask'"),
        ({"address": "tcp://a:1"}, "only the engines dask and ray take an address"),
        ({"engine": "dask", "address": "tcp://a:1", "jobs": 2}, "has its own workers"),
        ({"engine": "dask", "jobs": 0}, "a whole number jobs >= 1, or none, got jobs=0"),
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
    monkeypatch.delitem(sys.modules, f"giro.simulation.engines.{engine}", raising=False)
    complaint = rf"engine {engine} needs {module}: pip install 'giro-bandits\[{engine}\]'"
    with pytest.raises(MissingExtra, match=complaint):
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
    dask_cluster = pytest.importorskip("giro.simulation.engines.dask", reason="an extra")
    asked: list[str] = []
    monkeypatch.setattr(dask_cluster, "Client", lambda address, **rest: asked.append(address))
    with pytest.raises(GiroError, match="no Dask scheduler answers at"):
        simulate("ucb1", "beta", rounds=2, engine="dask", address=f"tcp://127.0.0.1:{free_port}")
    assert not asked


# -- chunks -------------------------------------------------------------------------------------


def lasting(seconds: float) -> Chunks:
    """Chunks of 10,000 runs for two workers, after one run has taken so long."""
    chunks = Chunks(range(10_000), workers=2)
    chunks.adapt(dataclasses.replace(small_trace(), seconds=np.full(2, seconds)))
    return chunks


@pytest.mark.parametrize("seconds", [0.0, 1e-4, 0.01, 100.0])
def test_every_run_is_in_one_chunk(seconds: float) -> None:
    assert [run for chunk in lasting(seconds) for run in chunk] == list(range(10_000))


def test_a_chunk_takes_about_two_seconds_and_the_last_ones_less() -> None:
    sizes = [len(chunk) for chunk in lasting(0.01)]
    assert sizes[0] == max(sizes) == 200
    assert min(sizes[:-1]) == 10
    assert sizes[:-1] == sorted(sizes[:-1], reverse=True)


def test_a_long_run_is_a_chunk_of_its_own() -> None:
    assert {len(chunk) for chunk in lasting(100.0)} == {1}


def test_a_chunk_is_played_as_its_runs_are_alone() -> None:
    setting = make_setting("ucb1", "beta", rounds=50, seed=4)
    work = Work(Policy.parse("ucb1"), Problem.parse("beta"), setting)
    chunk = received(play_sent(*send(work), [5, 2]))
    alone = simulate("ucb1", "beta", rounds=50, runs=6, seed=4)
    assert chunk.runs.tolist() == [2, 5]
    assert chunk.regret.tolist() == alone.regret[[2, 5]].tolist()


def test_a_worker_with_other_versions_refuses() -> None:
    setting = make_setting("ucb1", "beta", rounds=50, seed=4)
    work = Work(Policy.parse("ucb1"), Problem.parse("beta"), setting)
    answer = play_sent(send(work)[0], "giro 0", [1])
    with pytest.raises(GiroError, match="this process has giro 0: install the same on every"):
        received(answer)
