"""What does not compile is played in processes, with the numbers of a single one."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from simulation.notes import ONE_ARM, Notes, noting

from giro import BadParameter, GiroError, Problem, simulate
from giro.policies.randomized import Randomized
from giro.simulation.engines import Threads
from giro.simulation.play import Work
from giro.simulation.simulate import make_setting

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


UNGUARDED = """
from giro import simulate
from giro.policies.randomized import Randomized
from giro.simulation.play import Work
from giro.simulation.engines import Threads
from giro.simulation.simulate import make_setting

def draw(history, rng):
    print("a policy may print")
    return float(rng.random())

for one in (draw, lambda history, rng: float(rng.random())):
    traces = [simulate(Randomized(one), "bernoulli", rounds=5, runs=4, jobs=j) for j in (1, 2)]
    assert traces[0].reward.tolist() == traces[1].reward.tolist()
print("done")
"""


def test_a_script_needs_no_guard_and_its_functions_are_sent(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED)
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "done"
    assert done.stdout.count("a policy may print") == done.stderr.count("a policy may print") > 0


class _CannotBeSent(Exception):
    def __init__(self, one: str, another: str) -> None:
        super().__init__(one + another)


def _fails(history: Any, rng: Any) -> float:
    raise _CannotBeSent("this ", "failed")


def test_an_error_that_cannot_be_sent_is_told() -> None:
    with pytest.raises(GiroError, match="_CannotBeSent: this failed"):
        simulate(Randomized(_fails), ONE_ARM, **SETTING, jobs=2)


def test_closing_the_iterator_ends_the_processes(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes")
    policy = noting(notes.path, waits_after=2)  # then for a word that never comes
    work = Work(policy, Problem.parse(ONE_ARM), make_setting(policy, ONE_ARM, rounds=2, seed=5))
    iterator = Threads(2).finished(work, range(100))
    assert next(iterator).runs.size == 1
    iterator.close()
    assert len(notes.read()) < 100
