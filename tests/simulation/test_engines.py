"""Engines: what is lost is sent again, what makes no sense is refused, runs go in chunks."""

import dataclasses
import sys
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from simulation.notes import ONE_ARM, Notes, noting
from simulation.traces import numbers, small_trace, small_work

from giro import BadParameter, GiroError, Policy, Problem, Trace, UnknownName, simulate
from giro.errors import MissingExtra
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
from giro.simulation.kept import Kept
from giro.simulation.play import Work
from giro.simulation.simulate import Experiment, make_setting, run
from giro.simulation.trace import merge

UCB1 = Policy.parse("ucb1")


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
    work, traces = small_work(noting(notes.path, waits_after=60, dies="once")), list[Trace]()
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


def test_no_cluster_is_asked_when_nothing_is_missing(tmp_path: Path) -> None:
    experiment = Experiment(["beta"], ["ucb1"], rounds=10, runs=2)
    list(run(experiment, Kept(tmp_path)))
    (trace,) = run(experiment, Kept(tmp_path), engine="dask", address="tcp://127.0.0.1:1")
    assert trace.runs.size == 2


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
    work = small_work()
    crew, asked_for = _unreliable(work, loses=lambda call: call in (1, 2, 4))
    traces = list(drive(crew, Chunks(range(6), workers=1, seconds=0.0), work, play_chunk))
    assert numbers(merge(traces)) == numbers(simulate(UCB1, ONE_ARM, rounds=2, runs=6, seed=5))
    assert asked_for[:4] == [0, 1, 2, 3]
    assert sorted(asked_for) == sorted([*range(6), *(asked_for[call] for call in (1, 2, 4))])


def test_a_cluster_that_gives_nothing_back_is_given_up() -> None:
    work = small_work()
    crew, asked_for = _unreliable(work, loses=lambda call: True)
    with pytest.raises(GiroError, match=r"6 runs of ucb1 .* sent 3 times: a cable was pulled"):
        list(drive(crew, Chunks(range(6), workers=1), work, play_chunk))
    assert max(map(asked_for.count, range(6))) == 3


def test_a_chunk_may_be_lost_many_times_while_others_end() -> None:
    work = small_work()
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
