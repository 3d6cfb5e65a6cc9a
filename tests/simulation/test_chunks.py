"""Runs in chunks."""

import dataclasses

import numpy as np
import pytest
from simulation.traces import small_trace

from giro import GiroError, Policy, Problem
from giro.simulation.chunks import Chunks, Work, play_sent, received, send
from giro.simulation.experiment import make_setting
from giro.simulation.simulate import simulate


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
