"""A policy that leaves a note of every run that is begun, for tests across processes."""

import os
import signal
import time
from dataclasses import dataclass

import numpy as np

from giro import Policy
from giro.policies.randomized import Randomized

ONE_ARM = "bernoulli:means=[0.5]"  # on which, in two rounds, an arm's value is drawn once


@dataclass(frozen=True)
class Note:
    path: str
    seconds: float = 0.0
    fatal: bool = False

    def __call__(self, history: np.ndarray, rng: np.random.Generator) -> float:
        with open(self.path, "a") as file:
            file.write(f"{os.getpid()}\n")
        if self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(self.seconds)
        return float(rng.random())


def noting(path: object, *, seconds: float = 0.0, fatal: bool = False) -> Policy:
    return Randomized(Note(str(path), seconds, fatal))
