"""A policy that leaves a note of every run that is begun, for tests across processes.

What such a test waits for are notes and files, never seconds: a busy machine makes it slower.
"""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from giro import Policy
from giro.policies.randomized import Randomized

ONE_ARM = "bernoulli:means=[0.5]"  # on which, in two rounds, an arm's value is drawn once
HANGS = 600.0  # seconds after which what should happen never will


class Begun(NamedTuple):
    """A run that was begun."""

    process: str
    run: str  # its first draw, which no other run has


class Notes(NamedTuple):
    """Where processes meet: their notes, the word to go on, and the one that died."""

    path: Path

    def read(self) -> list[Begun]:
        return [Begun(*line.split()) for line in self.path.read_text().splitlines()]

    @property
    def go(self) -> Path:
        return self.path.with_suffix(".go")

    @property
    def dead(self) -> Path:
        return self.path.with_suffix(".dead")


@dataclass(frozen=True)
class Note:
    path: str
    waits_after: int | None = None  # so many notes, until the word to go on is given
    dies: Literal["never", "once", "always"] = "never"  # thereafter

    def __call__(self, history: np.ndarray, rng: np.random.Generator) -> float:
        notes, value = Notes(Path(self.path)), float(rng.random())
        with notes.path.open("a") as file:
            file.write(f"{os.getpid()} {value!r}\n")
        if self.waits_after is not None and len(notes.read()) > self.waits_after:
            wait_for(notes.go)
            if self.dies == "always" or (self.dies == "once" and _is_first(notes.dead)):
                os.kill(os.getpid(), signal.SIGKILL)
        return value


def noting(
    path: Path,
    *,
    waits_after: int | None = None,
    dies: Literal["never", "once", "always"] = "never",
) -> Policy:
    return Randomized(Note(str(path), waits_after, dies))


def wait_for(path: Path) -> None:
    """Return when there is a file."""
    end = time.monotonic() + HANGS
    while not path.exists():
        assert time.monotonic() < end, f"{path} never came"
        time.sleep(0.01)


def _is_first(path: Path) -> bool:
    """Leave one's number in a file, unless somebody else has done so."""
    try:
        with path.open("x") as file:
            file.write(str(os.getpid()))
    except FileExistsError:
        return False
    return True
