"""What does not compile is played in processes, with the numbers of a single one."""

import os
from pathlib import Path
from typing import Any

import pytest
from simulation.notes import ONE_ARM, noting

from giro import BadParameter, simulate
from giro.policies.randomized import Randomized

SETTING: dict[str, Any] = {"rounds": 2, "runs": 4, "seed": 5}


def test_plain_python_is_played_in_other_processes(tmp_path: Path) -> None:
    policy, told = noting(tmp_path / "notes", seconds=0.05), list[int]()
    side_by_side = simulate(policy, ONE_ARM, **SETTING, jobs=2, progress=told.append)
    others = set((tmp_path / "notes").read_text().split())
    assert str(os.getpid()) not in others
    assert sum(told) == 4
    alone = simulate(policy, ONE_ARM, **SETTING, jobs=1)
    assert set((tmp_path / "notes").read_text().split()) == {*others, str(os.getpid())}
    assert side_by_side.reward.tolist() == alone.reward.tolist()


def test_an_error_there_is_the_error_here() -> None:
    policy = Randomized(lambda history, rng: float("nan"))
    with pytest.raises(BadParameter, match="randomized needs numbers from draw, got nan"):
        simulate(policy, ONE_ARM, **SETTING, jobs=2)
