"""Other libraries on the rows of a classification problem, in the order in which a run meets them.

Each plays in an environment and a process of its own, on one core; its script in peers/ says how.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from python_libraries import Trouble, environment

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
PATIENCE = 20.0  # times the limit of processor time, in wall time: the machine may be busy


class Library(NamedTuple):
    """A peer, and what to install."""

    name: str
    requirements: tuple[str, ...]

    @property
    def script(self) -> Path:
        """The file that plays its policies."""
        return Path(__file__).parent / "peers" / f"classify_{self.name.lower()}.py"


VW = Library("VW", ("vowpalwabbit==9.11.2", "numpy==2.4.6"))
CONTEXTUALBANDITS = Library("contextualbandits", ("contextualbandits==0.3.30",))
MABWISER = Library("MABWiser", ("mabwiser==2.7.4",))


class Outcome(NamedTuple):
    """What a policy made of the rows."""

    rounds: int
    mean_reward: float
    seconds: float  # of processor time, choosing and learning only


def played(
    library: Library, policy: str, folder: Path, *, n_arms: int, seed: int, limit: float
) -> Outcome:
    """Return the outcome that the library's script prints; it ends itself after `limit` seconds."""
    arguments = (policy, folder.resolve(), n_arms, seed, limit)
    command = [environment(library), "-W", "ignore", library.script, *arguments]
    answer = _answer([str(part) for part in command], library, timeout=PATIENCE * limit)
    return Outcome(**json.loads(answer.splitlines()[-1]))


def _answer(command: list[str], library: Library, *, timeout: float) -> str:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=True,
            timeout=timeout,
            env=os.environ | ONE_THREAD,
        )
    except subprocess.CalledProcessError as error:
        complaint = (error.stderr.strip().splitlines() or ["no message"])[-1]
        raise Trouble(f"{library.name} does not run: {complaint}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Trouble(f"{library.name} does not run: {error}") from error
    return done.stdout
