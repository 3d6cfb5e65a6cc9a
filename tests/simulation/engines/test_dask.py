"""Dask: the numbers of threads, whatever happens to workers and schedulers."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from simulation.notes import ONE_ARM, Notes, noting
from simulation.traces import numbers, small_work

from giro import GiroError, simulate
from giro.policies.randomized import Randomized
from giro.simulation import engines
from giro.simulation.engines import open_engine
from giro.simulation.kept import Kept, load_folder
from giro.simulation.simulate import Experiment, run

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
                list(engine.finished(small_work(), range(2)))


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


def test_closing_the_iterator_while_runs_are_under_way_is_no_error(
    address: str, tmp_path: Path
) -> None:
    notes = Notes(tmp_path / "notes")
    with open_engine("dask", address=address) as engine:
        iterator = engine.finished(small_work(noting(notes.path, waits_after=20)), range(1000))
        assert next(iterator).runs.size >= 1
        iterator.close()
        notes.go.touch()


def _out_of_range(history: Any, rng: Any) -> float:
    return float("nan")


def test_an_error_in_a_worker_is_the_error_here(address: str) -> None:
    policy = Randomized(_out_of_range)
    with pytest.raises(GiroError, match="randomized needs numbers from draw, got nan"):
        simulate(policy, ONE_ARM, rounds=3, runs=2, engine="dask", address=address)


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
