"""What VW is told of a round, which lines count, and that a table goes on where it stopped."""

from pathlib import Path

import arms_with_features as arms
import numpy as np
import pytest
from known import NEWS
from rounds_for_vw import lines_of, write_rounds

from giro import Problem
from giro.offer import Offer, SparseRows
from giro.problem import reveal, reward, start
from giro.seeds import stream

LINE = arms.Line("movielens", "VW", "--bag 5 -l 2", 100, 0, 50, 0.5, 90.0, "vw==1")


def test_dense_and_sparse_features_are_told_alike() -> None:
    dense = np.array([[0.0, 1.0, 0.25], [0.0, 0.0, 0.0]])
    sparse = SparseRows(np.array([0, 2, 2]), np.array([1, 2]), np.array([1.0, 0.25]))
    wanted = ["shared |U u1:-2", "|F f1 f2:0.25", "|F "]
    for features in (dense, sparse):
        offer = Offer(np.array([4, 7]), np.array([0.0, -2.0]), features)
        assert list(lines_of(offer)) == wanted


@pytest.mark.parametrize("text", ["movielens", NEWS, "classification:data=statlog"])
def test_rounds_are_those_of_the_simulator(text: str, tmp_path: Path, seed: int) -> None:
    problem = Problem.parse(text)
    write_rounds(tmp_path, problem, rounds=20, seed=seed, run=3)
    lines, rewards = (
        (tmp_path / "lines.txt").read_text().splitlines(),
        np.load(tmp_path / "rewards.npy"),
    )
    rng, of_rewards = stream(seed, 3, 0), stream(seed, 3, 2)
    instance = start(problem, rng)
    for t in range(20):
        offer, means, _ = reveal(instance, t, rng)
        assert lines[t].split("\t") == list(lines_of(offer))
        drawn = [reward(instance, means, arm, of_rewards) for arm in offer.arms.tolist()]
        assert rewards[t].tolist() == drawn


def test_lines_are_read_as_they_were_written_and_the_newest_counts(tmp_path: Path) -> None:
    path, comma = tmp_path / "arms" / "quality.csv", LINE._replace(policy="a:b=1,c=2", run=1)
    again = LINE._replace(mean_reward=0.75)
    for line in (LINE, comma, again):
        arms._append(path, line)
    found = arms._read(path)
    assert found == [LINE, comma, again]
    assert arms.rows_of(found, "movielens", "tuning", 50) == []  # neither has played both runs
    (row,) = arms.rows_of([*found, LINE._replace(run=1)], "movielens", "tuning", 50)
    assert (row.rewards.tolist(), row.mean, row.error) == ([0.75, 0.5], 0.625, 0.125)


def test_the_rate_is_the_best_of_the_tuning_runs_alone() -> None:
    lines = [
        LINE,
        LINE._replace(run=1, mean_reward=0.7),
        LINE._replace(policy="--bag 5 -l 0.5", mean_reward=0.55),
        LINE._replace(policy="--bag 5 -l 0.5", seed=200, mean_reward=0.9),
        LINE._replace(policy="--bag 5 -l 0.1", problem="covertype", mean_reward=0.9),
        LINE._replace(policy="--bag 5 -q :: -l 0.1", mean_reward=0.2),
    ]
    tuned = [["--bag 5 -l 2", "--bag 5 -l 0.5"], ["--bag 5 -q :: -l 0.1"]]
    assert arms._tuned(lines, "movielens", 50) == tuned
