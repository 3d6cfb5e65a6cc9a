"""What does not compile is played in processes, with the numbers of a single one."""

import os
from pathlib import Path
from typing import Any

import pytest
from simulation.notes import ONE_ARM, Notes, noting

from giro import BadParameter, simulate
from giro.policies.randomized import Randomized

SETTING: dict[str, Any] = {"rounds": 2, "runs": 4, "seed": 5}


def test_plain_python_is_played_in_other_processes(tmp_path: Path) -> None:
    notes, told = Notes(tmp_path / "notes"), list[int]()
    policy = noting(notes.path)
    side_by_side = simulate(policy, ONE_ARM, **SETTING, jobs=2, progress=told.append)
    here, others = str(os.getpid()), {process for process, _ in notes.read()}
    assert here not in others
    assert sum(told) == 4
    alone = simulate(policy, ONE_ARM, **SETTING, jobs=1)
    assert {process for process, _ in notes.read()} == {*others, here}
    assert side_by_side.reward.tolist() == alone.reward.tolist()


def test_an_error_there_is_the_error_here() -> None:
    policy = Randomized(lambda history, rng: float("nan"))
    with pytest.raises(BadParameter, match="randomized needs numbers from draw, got nan"):
        simulate(policy, ONE_ARM, **SETTING, jobs=2)
